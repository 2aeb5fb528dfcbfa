/** What people look at. */
import type { RunId } from '../../ground/index.ts';
import type { RouteTally, TaskFilter, TaskRow } from '../tasks.ts';
import { type RawTask, taskRow } from './rows.ts';
import type { Tx } from './session.ts';
import * as sql from './tasks.sql.ts';

const LIST_COUNT_MAX = 1_000;

export function find(tx: Tx, ids: readonly RunId[]): TaskRow[] {
  return ids.flatMap((task) => {
    const row = tx.get<RawTask>(sql.selectTask, { task });
    return row ? [taskRow(row)] : [];
  });
}

export function list(tx: Tx, filter: TaskFilter): TaskRow[] {
  const before = filter.before;
  const last = before === undefined ? undefined : tx.get<RawTask>(sql.selectTask, { task: before });
  if (before !== undefined && !last) return [];
  const values = {
    created_at: last?.created_at ?? Number.MAX_SAFE_INTEGER,
    task: last?.task_id ?? '',
    status: filter.status ?? null,
    machine: filter.machine ?? null,
    claimed_by: filter.claimedBy ?? null,
    in_flight: filter.isInFlight ? 1 : 0,
    count: Math.max(0, Math.min(filter.countMax, LIST_COUNT_MAX)),
  };
  const byOwner = filter.claimedBy === undefined ? sql.selectPage : sql.selectPageOfPod;
  const page = filter.isDeadLetter ? sql.selectPageOfDeadLetters : byOwner;
  return tx.all<RawTask>(page, values).map(taskRow);
}

export function inFlight(tx: Tx, routes?: readonly string[]): RouteTally[] {
  if (routes === undefined) return tx.all<RouteTally>(sql.countInFlight);
  const wanted = [...new Set(routes)].sort();
  return wanted.flatMap((route) => tx.all<RouteTally>(sql.countClaimable, { route }));
}
