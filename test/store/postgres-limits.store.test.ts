/** Limits of queues on Postgres: what a queue that is full costs the others, and eight who claim at once. */
import { beforeEach, expect, test } from 'vitest';
import { claimLimited, claimTasks } from '../../src/store/postgres/step-tracker-claim.sql.ts';
import type { Store } from '../../src/store/store.ts';
import { explain } from './explained.ts';
import { completed, newTasks, ROUTE } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { emptyTables, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const alder = podOf('alder');
const CROWD = 20_000;

const TABLES = ['step_tracker', 'run_events', 'pod_health', 'queue_limits', 'audit_log'];
beforeEach(() => emptyTables(scene.client, TABLES));

function limitBy(store: Store, queue: string, limit: number | undefined) {
  const deed = { what: 'queue.limit', queue, limit } as const;
  return store.changeFlow({ requestId: `${queue} ${limit}`, who: 'ann', via: 'test', deed });
}

test('a crowd in a queue that is full, or paused, costs a claim of others one hop', async () => {
  const store = await scene.open();
  await store.register(birthOf('alder'));
  await scene.client.query('analyze');
  await scene.client.query(
    `insert into step_tracker (machine, payload, queue, priority)
     select 'sample/one', '{}', case when n % 2 = 0 then 'bulk' else 'slow' end, 9
       from generate_series(1, ${2 * CROWD}) as n`,
  );
  await store.enqueue(newTasks(200));
  await limitBy(store, 'bulk', 5);
  const deed = { what: 'queue.pause', queue: 'slow' } as const;
  await store.changeFlow({ requestId: 'pause', who: 'ann', via: 'test', deed });
  const looked = async (text: string, ...values: unknown[]) =>
    (await explain(scene.client, 'step_tracker', { text, values }, 'select 1')).rows;
  for (const analyse of ['select 1', 'analyze step_tracker']) {
    await scene.client.query(analyse);
    for (const mode of ['skip-locked', 'cas'] as const) {
      const values = [alder, [ROUTE], 'journal-alder', 100, '{}', [], 'token', 1_000, null, 100];
      expect(await looked(claimTasks[mode].ready, ...values)).toBeLessThan(1_000);
      const limited = [...values, ['bulk'], [5]];
      expect(await looked(claimLimited.ready, ...limited)).toBeLessThan(1_000);
    }
  }
});

test.each(['skip-locked', 'cas'] as const)(
  'eight who claim at once (%s) never have more than the limit between them',
  async (claimMode) => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => scene.open({ claimMode })));
    const pods = stores.map((_, index) => podOf(`pod-${index}`));
    for (const [index, store] of stores.entries()) {
      await store.register({ ...birthOf(`pod-${index}`), pod: pods[index]! });
    }
    await limitBy(stores[0]!, 'default', 10);
    await stores[0]!.enqueue(newTasks(600));
    let done = 0;
    for (let round = 0; round < 200 && done < 200; round += 1) {
      const request = (index: number) => claimRequest(pods[index]!, { countMax: 4 });
      const claims = await Promise.all(stores.map((store, index) => store.claim(request(index))));
      const { rows } = await scene.client.query(
        `select count(*)::int as held from step_tracker where status = 'claimed'`,
      );
      expect(rows[0].held).toBeLessThanOrEqual(10);
      await Promise.all(
        stores.map((store, index) =>
          store.settle(
            pods[index]!,
            claims[index]!.map((claim) => completed(claim)),
          ),
        ),
      );
      done += claims.flat().length;
    }
    expect(done).toBeGreaterThanOrEqual(200);
  },
);
