/** What people do on a real Postgres while pods are at work: nobody locks anybody out for good. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import type { Deed } from '../../src/store/acts.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { actOf, wordOf } from './acts.ts';
import { claimRequest, completed, failed, newTasks, parked, released } from './factories.ts';
import { birthOf, podOf } from './harness.ts';
import { usePostgres } from './postgres-harness.ts';

const scene = usePostgres();

const ROUNDS = 60;
const DEEDS: readonly Deed[] = [
  { what: 'pause' },
  { what: 'resume' },
  { what: 'retry' },
  { what: 'reschedule', due: { afterMs: 0 } },
  { what: 'redrive', isFresh: false },
  { what: 'cancel', reason: 'no' },
  { what: 'redrive', isFresh: true },
];

async function deadlocks(): Promise<number> {
  await scene.client.query('select pg_stat_force_next_flush()').catch(() => undefined);
  const { rows } = await scene.client.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return rows[0]!.deadlocks as number;
}

const LEAVE = [completed, failed, released, (claim: ClaimedTask) => parked(claim, 'retry', 0)];

async function work(store: Store, pod: PodId, round: number): Promise<void> {
  const claims = await store.claim(claimRequest(pod, { countMax: 10 }));
  await store.settle(
    pod,
    claims.map((claim, index) => LEAVE[(index + round) % LEAVE.length]!(claim)),
  );
}

async function sweep(store: Store, round: number): Promise<void> {
  const pod = podOf(`short-${round}`);
  await store.register({ ...birthOf(`short-${round}`), pod });
  await store.claim(claimRequest(pod, { countMax: 5 }));
  await store.fence(pod, podOf('alder'), 'proved');
  const taking = { from: pod, by: podOf('alder'), to: 'pool', crashed: 'none' } as const;
  await store.take({ ...taking, spreadMs: 0, countMax: 10 });
  await store.retire(pod);
}

test('I40: people who change tasks, pods at work and sweeps never lock each other out', async () => {
  const [one, two, people, more] = await Promise.all([1, 2, 3, 4].map(() => scene.open()));
  const pods = [podOf('alder'), podOf('birch')] as const;
  for (const name of ['alder', 'birch']) await one!.register(birthOf(name));
  const tasks = newTasks(40);
  await one!.enqueue(tasks);
  const before = await deadlocks();
  const answers = new Map<string, number>();
  const press = async (store: Store, round: number, step: number): Promise<void> => {
    for (const [index, deed] of DEEDS.entries()) {
      const task = tasks[(round * step + index * 3) % tasks.length]!.id as RunId;
      const act = actOf(task, deed);
      // The same request at once by two ways: it is done once.
      const [answer, again] = await Promise.all([store.act(act), more!.act(act)]);
      const repeated = [answer, again].filter((it) => 'isRepeated' in it && it.isRepeated);
      if (answer.kind !== 'refused' && again.kind !== 'refused') expect(repeated).toHaveLength(1);
      answers.set(wordOf(answer), (answers.get(wordOf(answer)) ?? 0) + 1);
    }
  };
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all([
      work(one!, pods[0], round),
      work(two!, pods[1], round),
      sweep(two!, round),
      press(people!, round, 5),
      press(one!, round, 7),
    ]);
  }
  expect(await deadlocks()).toBe(before);
  expect(await one!.violations()).toEqual([]);
  expect(answers.get('done'), 'something was done').toBeGreaterThan(ROUNDS);
  // One row for each that was not refused, and none for the others.
  const { rows } = await scene.client.query('select count(*)::int as count from audit_log');
  const refused = ['ended', 'unfinished', 'held', 'unfit', 'unknown', 'revision', 'reused'];
  const isMade = ([word]: [string, number]) => !refused.includes(word);
  const made = [...answers].filter(isMade).reduce((sum, [, count]) => sum + count, 0);
  expect(rows[0]!.count).toBeGreaterThanOrEqual(made);
}, 240_000);

test('I40: an act whose commit was made and whose answer was lost is found done when it is sent again', async () => {
  const store = await scene.open();
  const [task] = newTasks(1);
  await store.enqueue([task!]);
  await store.register({ ...birthOf('cedar'), routes: ['sample/one@1'] });
  const act = actOf(task!.id, { what: 'cancel', reason: 'enough' });
  // Nobody knows whether it took effect: the process that asked is gone, and so are its connections.
  const gone = await scene.open({ poolSize: 1 });
  await gone.act(act);
  const { rows } = await scene.client.query('select pg_backend_pid() as own');
  await scene.client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> $1`,
    [rows[0]!.own],
  );
  const again = await (await scene.open()).act(act);
  expect(again).toMatchObject({ kind: 'done', isRepeated: true, after: { status: 'cancelled' } });
  const logged = await scene.client.query(
    'select count(*)::int as n from audit_log where id = $1',
    [act.requestId],
  );
  expect(logged.rows).toEqual([{ n: 1 }]);
});
