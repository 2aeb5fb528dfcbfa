/** Tasks that follow others on Postgres: found again after a crash, and what they cost beside a crowd. */
import { beforeEach, expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { letFollowersGo, letOverdueGo } from '../../src/store/postgres/followers.sql.ts';
import { explain } from './explained.ts';
import { ids, newId, newTask } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { emptyTables, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const alder = podOf('alder');
const CROWD = 20_000;

beforeEach(() => emptyTables(scene.client, ['step_tracker', 'run_events', 'pod_health']));

test('a follower that nobody let go, for whoever was to died just then, is found again', async () => {
  const store = await scene.open();
  await store.register(birthOf('alder'));
  const [run] = ids(await store.enqueue([newTask()]));
  const follower = newTask({ follows: { run: run!, on: 'success' } });
  const lost = newTask({ follows: { run: follower.id, on: 'end' } });
  await store.enqueue([follower, lost]);
  const end = (id: RunId, status: string) =>
    scene.client.query(
      `update step_tracker set status = $2, outcome = $2, finished_at = now() where task_id = $1`,
      [id, status],
    );
  await end(run!, 'completed');
  const [claim] = await store.claim(claimRequest(alder));
  expect(claim?.task).toBe(follower.id);

  // Another process, which has looked at nothing yet.
  const other = await scene.open();
  await scene.client.query(
    `update step_tracker set status = 'cancelled', outcome = 'cancelled', claimed_by = null,
            claim_token = null, claimed_at = null, finished_at = now() where task_id = $1`,
    [follower.id],
  );
  expect(ids(await other.claim(claimRequest(alder)))).toEqual([lost.id]);
});

test('a crowd of followers costs whoever ends another run nothing', async () => {
  const crowded = newId();
  await scene.client.query('analyze');
  await scene.client.query(
    `insert into step_tracker (machine, payload, status, wait_for, follows, follows_on, run_at)
     select 'sample/one', '{}', 'waiting', 'run', $1, 'success', now() + interval '99 years'
       from generate_series(1, ${CROWD})`,
    [crowded],
  );
  const looked = async (text: string, ...values: unknown[]) =>
    (await explain(scene.client, 'step_tracker', { text, values }, 'select 1')).rows;
  for (const analyse of ['select 1', 'analyze step_tracker']) {
    await scene.client.query(analyse);
    expect(await looked(letFollowersGo, [newId(), newId()], 1_000, '{}')).toBeLessThan(10);
    // Those who go round look at so many, and no more.
    expect(await looked(letOverdueGo, '', '', 100, '{}')).toBeLessThan(100 * 6);
  }
});
