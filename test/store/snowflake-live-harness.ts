/**
 * The conformance suite on a live account: in a schema of its own, which is dropped in the end. Nothing is
 * behind the account here, so rows are looked at, and times moved, by statements.
 */
import { afterAll, beforeAll } from 'vitest';
import { systemRandom } from '../../src/ground/index.ts';
import {
  AUDIT_LOG,
  cellsOf,
  FLEET_FACT,
  POD_HEALTH,
  RUN_EVENTS,
  STEP_TRACKER,
  type Table,
} from '../../src/store/snowflake/columns.ts';
import { openerOf } from '../../src/store/snowflake/driver.ts';
import type { OpenSession, Session } from '../../src/store/snowflake/executor.ts';
import type { TableKind } from '../../src/store/snowflake/migrate.ts';
import { openOver } from '../../src/store/snowflake/open.ts';
import { readSnowflakeWay } from '../../src/store/snowflake/options.ts';
import { insertInto, NOW } from '../../src/store/snowflake/sql.ts';
import type { StoreHarness, TableName } from './harness.ts';
import { LIMITS, PORTS, plainRecord, shownRows } from './snowflake-harness.ts';

const TIMES: ReadonlyMap<Table, readonly string[]> = new Map([
  [
    STEP_TRACKER,
    `created_at begun_at recorded_at run_at claimed_at key_until deadline_at last_update finished_at
      discarded_at`.split(/\s+/),
  ],
  [POD_HEALTH, ['birth_timestamp', 'last_heartbeat', 'dead_at']],
  [AUDIT_LOG, ['noted_at']],
]);
const TABLES = [STEP_TRACKER, POD_HEALTH, RUN_EVENTS, AUDIT_LOG, FLEET_FACT];
/** A number that is larger is a time. */
const TIME_MIN = 1e12;

/** Call in a `describe` of its own. */
export function liveHarness(address: string, kind: TableKind): StoreHarness {
  const schema = `FLEETQ_TEST_${systemRandom.hex(4).toUpperCase()}`;
  let open: OpenSession;
  let session: Session;
  let apartMs = 0;
  const run = async (text: string, binds: readonly (string | number)[] = []) =>
    (await session.execute(text, binds)).rows;
  beforeAll(async () => {
    const way = readSnowflakeWay(address, { deadlineMs: LIMITS.deadlineMs });
    const first = await (await openerOf(way))();
    await first.execute(`create schema ${schema}`, []);
    await first.close();
    open = await openerOf({ ...way, schema });
    session = await open();
    const store = await openOver(open, LIMITS, { ...PORTS, migrates: true }, kind);
    await store.close();
    const [row] = await run(`select ${NOW} as now_ms`);
    apartMs = Number(row?.['now_ms']) - Date.now();
  }, 300_000);
  afterAll(async () => {
    await session?.execute(`drop schema if exists ${schema}`, []);
    await session?.close();
  }, 300_000);
  const now = () => Date.now() + apartMs;
  const insert = (table: Table, record: object) =>
    run(insertInto(table), [JSON.stringify([{ ...cellsOf(table, record), rev: 'plain' }])]);
  return {
    ...{ poison: '\0', hasHints: false, sequenceCount: 3, crowdCount: 1 },
    lacks: ['serial keys', 'queue limits', 'following'],
    now,
    open: () => openOver(open, LIMITS, PORTS),
    async reset() {
      for (const { name } of TABLES) await run(`delete from ${name}`);
    },
    async pass(ms) {
      for (const [{ name }, columns] of TIMES) {
        await run(`update ${name} set ${columns.map((one) => `${one} = ${one} - ${ms}`).join()}`);
      }
      for (const { kind: of, fact_id: id, body } of await run('select * from fleet_fact')) {
        const text = shifted(String(body), ms);
        await run('update fleet_fact set body = ? where kind = ? and fact_id = ?', [
          ...[text, String(of), String(id)],
        ]);
      }
    },
    async insertPlain(row) {
      const record = plainRecord(row, now());
      await insert(STEP_TRACKER, record);
      return record.taskId;
    },
    async insertAudit({ task_id: taskId, ...row }) {
      await insert(AUDIT_LOG, { ...row, taskId });
    },
    rows: async (table: TableName) =>
      shownRows(table, async (name) =>
        (await run(`select * from ${name}`)).map((row) => ({ ...row })),
      ),
  };
}

/** Whatever looks like a time in what is kept as JSON. */
function shifted(body: string, ms: number): string {
  const entries = Object.entries(JSON.parse(body) as object);
  return JSON.stringify(
    Object.fromEntries(
      entries.map(([name, value]) => [
        name,
        typeof value === 'number' && value > TIME_MIN ? value - ms : value,
      ]),
    ),
  );
}
