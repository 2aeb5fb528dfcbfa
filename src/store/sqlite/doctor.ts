/** Looks whether the rules of the tables hold, in one snapshot of them. */
import type { Violation } from '../tasks.ts';
import { RULES, selectKeepers } from './doctor.sql.ts';
import type { Tx } from './session.ts';

const EXAMPLE_COUNT_MAX = 10;

export function violations(tx: Tx): Violation[] {
  const kept = tx.get<{ sql: string | null }>(selectKeepers)?.sql ?? '';
  return RULES.flatMap(({ rule, keptBy, select }) => {
    if (keptBy !== undefined && kept.includes(keptBy)) return [];
    const rows = tx.all<{ example: string }>(select);
    const examples = rows.slice(0, EXAMPLE_COUNT_MAX).map(({ example }) => example);
    return rows.length > 0 ? [{ rule, count: rows.length, examples }] : [];
  });
}
