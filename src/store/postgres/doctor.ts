/** Looks whether the rules of the tables hold. */
import type { Violation } from '../tasks.ts';
import { countBreaches, RULES, selectKeepers } from './doctor.sql.ts';
import type { Pool } from './pool.ts';

const BREACH_COUNT_MAX = 1_000;
const EXAMPLE_COUNT_MAX = 10;

export async function findViolations(pool: Pool): Promise<Violation[]> {
  const keepers = new Set((await pool.query(selectKeepers)).map((row) => row['name']));
  const found: Violation[] = [];
  for (const rule of RULES) {
    if (rule.keptBy !== undefined && keepers.has(rule.keptBy)) continue;
    const values = [BREACH_COUNT_MAX, EXAMPLE_COUNT_MAX];
    const [row] = await pool.query(countBreaches(rule), values);
    const count = row?.['count'] as number;
    if (count === 0) continue;
    found.push({ rule: rule.rule, count, examples: row?.['examples'] as string[] });
  }
  return found;
}
