/** A server has room for so many connections: a pod has no more of them than it was told. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  createFleet,
  defineMachine,
  openStore,
  StoreOptionsError,
  StoreUnreachableError,
} from '../../src/index.ts';
import { usePostgres } from '../store/postgres-harness.ts';
import { runOn } from '../support/postgres.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const scene = usePostgres();
const newDir = useTempDirs();
const TASKS = 60;
/** For heartbeats, and to hear of tasks. */
const HEART_AND_EAR = 2;

const double = defineMachine({
  name: 'double',
  version: 1,
  input: z.object({ n: z.number() }),
  check: 'none',
  work: ({ input }) => 2 * input.n,
});

/** Its persist takes part in the transaction of the store that ends the run. */
const keep = defineMachine({
  name: 'keep',
  version: 1,
  input: z.object({ n: z.number() }),
  check: 'none',
  work: ({ input }) => 2 * input.n,
  persistIn: 'store',
  persist: async ({ tx, work }) => {
    await tx.query('select pg_sleep(0.01)');
    return work;
  },
});

async function connectionsTo(url: string): Promise<number> {
  const [row] = await runOn<{ count: number }>(
    url,
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'fleetq'`,
  );
  return row!.count;
}

/** The most connections of a pod while it works, with whatever it was asked meanwhile. */
async function workWith(poolSize: number, machine: typeof double | typeof keep) {
  const store = await scene.server.createDatabase();
  await using fleet = await createFleet({
    ...{ machines: [machine], store, poolSize, migrates: true, dataDir: newDir(), socket: false },
    ...{ heartbeat: '100ms', silence: '1s' },
  });
  const running = Promise.all(
    Array.from({ length: TASKS }, async (_, n) => (await fleet.enqueue(machine, { n })).result()),
  );
  let [most, isOver] = [0, false];
  const looking = (async () => {
    while (!isOver) most = Math.max(most, await connectionsTo(store));
  })();
  const results = await running.finally(() => {
    isOver = true;
  });
  await looking;
  return { results, most };
}

test.each([
  [1, double],
  [3, double],
  [1, keep],
  [3, keep],
] as const)(
  'with %i for its calls a pod does all its work, in transactions of its steps too',
  async (poolSize, machine) => {
    const { results, most } = await workWith(poolSize, machine);
    expect(results).toEqual(Array.from({ length: TASKS }, (_, n) => 2 * n));
    expect(most).toBeGreaterThan(poolSize);
    expect(most).toBeLessThanOrEqual(poolSize + HEART_AND_EAR);
  },
  60_000,
);

test.each([0, -1, 1.5, Number.NaN, 1_001, '8'])('%s are refused', async (poolSize) => {
  const options = { machines: [double], store: 'postgres://app@127.0.0.1:9/fleet' };
  const wrong = { ...options, dataDir: newDir(), poolSize: poolSize as number };
  const refusal = expect(createFleet(wrong)).rejects;
  await refusal.toThrow(/poolSize must be a whole number from 1 to 1000, got /);
  await expect(createFleet(wrong)).rejects.toBeInstanceOf(StoreOptionsError);
});

test('a server that has none left is told apart from one that does not answer', async () => {
  const store = await scene.server.createDatabase();
  const role = `crowd_of_${new URL(store).pathname.slice(1)}`;
  await runOn(store, `create role ${role} login connection limit 0`);
  const url = new URL(store);
  url.username = role;
  url.password = '';
  const crowded = await openStore(url.href);
  const thrown = await crowded.pods().catch((error: unknown) => error);
  await crowded.close();
  expect(thrown).toBeInstanceOf(StoreUnreachableError);
  expect(thrown).toMatchObject({
    message: expect.stringContaining('Postgres has no connection left: too many connections'),
    hint: expect.stringContaining('poolSize'),
  });
});
