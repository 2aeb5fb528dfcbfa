/** What an account says of itself and of us, for `fleetq doctor --store`. */
import type { FilledStoreOptions } from '../options.ts';
import { readVersions, type TableKind } from './migrate.ts';
import { withRun } from './open.ts';
import { NOW } from './sql.ts';

export interface AccountFacts {
  readonly version: string;
  readonly account: string;
  readonly role: string | undefined;
  readonly warehouse: string | undefined;
  /** Undefined where there are no tables yet. */
  readonly kind: TableKind | undefined;
  /** By its clock. */
  readonly now: number;
}

const selectFacts = `select current_version() as version, current_account() as account,
  current_role() as role, current_warehouse() as warehouse, ${NOW} as now_ms`;

export function accountFacts(address: string, options: FilledStoreOptions): Promise<AccountFacts> {
  return withRun(address, options, async (run) => {
    const { kind } = await readVersions(run);
    const [row] = (await run(selectFacts)).rows;
    const text = (name: string) => (row?.[name] ? String(row[name]) : undefined);
    return {
      version: text('version') ?? 'unknown',
      account: text('account') ?? 'unknown',
      role: text('role'),
      warehouse: text('warehouse'),
      kind,
      now: Number(row?.['now_ms']),
    };
  });
}
