/**
 * How the fleet queue that FleetQ is named after loses work, doubles it or lies about it: one test
 * each. The numbers are those of its list of defects.
 */
import { expect, test } from 'vitest';
import { pause } from '../../src/ground/index.ts';
import type { Store } from '../../src/store/index.ts';
import { never } from '../support/fleets.ts';
import { onlyWork, Script, twoSteps } from './script.ts';
import { HEARTBEAT_MS, SILENT_MS, STEADY_MS, useTestFleets, whileAdvancing } from './support.ts';

const { startFleet, hear } = useTestFleets();

function newScene() {
  const script = new Script();
  const machine = twoSteps(script);
  const options = { machines: [machine], around: script.around, archive: '100ms' } as const;
  return { script, machine, options, ...startFleet() };
}

test('1: a pod that was declared dead by a leader which then died keeps no orphans', async () => {
  const { script, machine, options, clock, startPod, row, store, podStatus } = newScene();
  const owner = await startPod('owner', options);
  script.holds.set('a.work', never());
  const { id } = await owner.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const dead = owner.id;
  owner.crash();
  // The leader's first act is done, and its second never comes.
  await store.fence(dead, 'leader' as never, 'proved');
  script.holds.clear();
  await startPod('next', options);
  await clock.advance(STEADY_MS + 3_000);
  expect(await podStatus(dead)).toBe('down');
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('2: a graceful stop that ran out of time loses nothing', async () => {
  const { script, machine, options, clock, startPod, row } = newScene();
  const owner = await startPod('owner', options);
  await startPod('other', { ...options, machines: [] });
  script.holds.set('a.work', never());
  const { id } = await owner.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  await whileAdvancing(clock, owner.fleet.drain({ budget: '5s' }));
  script.holds.clear();
  await startPod('next', options);
  await clock.advance(STEADY_MS + 3_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
});

test('3: a task that has had its last chance is failed where everybody sees it, and stays a dead letter', async () => {
  const { script, machine, options, clock, startPod, row, tables, store } = newScene();
  const owner = await startPod('owner', options);
  await startPod('witness', { ...options, machines: [] });
  const leader = await startPod('leader', { ...options, machines: [] });
  script.holds.set('a.work', never());
  const { id } = await owner.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  tables.tasks.get(id)!.crashes = 2;
  owner.crash();
  await clock.advance(STEADY_MS + SILENT_MS);
  const { status, outcome, claimedBy, error } = await row(id);
  expect({ status, outcome, claimedBy }).toEqual({
    status: 'failed',
    outcome: 'crashLoop',
    claimedBy: undefined,
  });
  expect(error).toContain('FLEETQ_CRASH_LOOP');
  expect((await store.list({ isDeadLetter: true, countMax: 9 })).map((task) => task.id)).toEqual([
    id,
  ]);
  expect(leader.fleet.status.pod?.isReady).toBe(true);
});

test('4: a pod that wakes late cannot end a task that another has, nor one that is over', async () => {
  const { script, machine, options, clock, startPod, row } = newScene();
  const owner = await startPod('owner', options);
  const others = [await startPod('leader', { ...options, machines: [] })];
  await clock.advance(STEADY_MS);
  let wake!: () => void;
  script.holds.set(
    'a.work',
    new Promise<void>((resolve) => {
      wake = resolve;
    }),
  );
  const { id } = await owner.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  owner.wire.isCut = true;
  await clock.advance(2 * SILENT_MS);
  script.holds.set('a.work', never());
  others.push(await startPod('next', options));
  await clock.advance(2_000);
  const before = await row(id);
  expect(before).toMatchObject({ status: 'claimed', claimedBy: others[1]!.id });
  wake();
  owner.wire.isCut = false;
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: before.epoch });
  expect(script.count('a.validate')).toBe(0);
});

test('4: a task that ended between the look of a sweep and its hand is not run again', async () => {
  const { machine, options, clock, startPod, row, store } = newScene();
  const owner = await startPod('owner', options);
  const { id } = await owner.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const ended = await row(id);
  await store.fence(owner.id, 'leader' as never, 'proved');
  const taking = { to: 'pool', countMax: 9, crashed: 'all', spreadMs: 0 } as const;
  expect(await store.take({ ...taking, from: owner.id, by: 'leader' as never })).toEqual([]);
  expect(await row(id)).toEqual(ended);
});

test('5: a pod that was swept and lives does not revive itself: it is another one from then on', async () => {
  const { options, clock, startPod, store, podStatus } = newScene();
  const pod = await startPod('pod', options);
  await clock.advance(HEARTBEAT_MS);
  const swept = pod.id;
  await store.fence(swept, 'leader' as never, 'proved');
  await store.retire(swept);
  await clock.advance(10 * HEARTBEAT_MS);
  expect(await podStatus(swept)).toBe('down');
  expect(pod.id).not.toBe(swept);
  expect(await podStatus(pod.id)).toBe('up');
});

test('6: where the end of a task cannot be written, the work is not failed: result and error are kept', async () => {
  const { script, machine, options, clock, startPod, row } = newScene();
  const pod = await startPod('pod', options);
  const good = await pod.fleet.enqueue(machine, {});
  const settle = pod.store.settle;
  let failures = 3;
  pod.store.settle = async (...given) => {
    if (failures-- > 0) throw new Error('deadlock detected');
    return settle(...given);
  };
  await clock.advance(5_000);
  expect(await row(good.id)).toMatchObject({ status: 'completed', result: '{"by":"b.persist"}' });
  expect(script.count('b.persist')).toBe(1);
  script.throws.set('a.work', () => new Error('no luck today'));
  const bad = await pod.fleet.enqueue(machine, {});
  await clock.advance(5_000);
  const { status, error } = await row(bad.id);
  expect(status).toBe('failed');
  expect(error).toContain('no luck today');
});

test('7: a sweep that is asked for by hand does what a sweep does', async () => {
  const { script, machine, options, clock, startPod, row } = newScene();
  const leader = await startPod('leader', { ...options, machines: [] });
  await startPod('witness', { ...options, machines: [] });
  const owner = await startPod('owner', options);
  await clock.advance(STEADY_MS);
  script.holds.set('a.work', never());
  const { id } = await owner.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const dead = owner.id;
  owner.crash();
  await clock.advance(SILENT_MS - HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  // Just long enough, and before the leader has looked by itself.
  clock.pass(HEARTBEAT_MS);
  const run = await leader.fleet.startByName('recovery/sweep', { pod: leader.id });
  const swept = await whileAdvancing(clock, run.result());
  expect(swept).toMatchObject({ pods: [{ pod: dead, requeued: 1, tasks: [id] }] });
});

test('8: a claim that hangs does not stop the heart', async () => {
  const { machine, options, clock, startPod, store } = newScene();
  const pod = await startPod('pod', options);
  pod.wire.holdsAnswers.set('claim', never());
  await pod.fleet.enqueue(machine, {});
  await clock.advance(10 * SILENT_MS);
  const [row] = await store.pods();
  expect(row).toMatchObject({ pod: pod.id, status: 'up' });
  expect(row!.silentMs).toBeLessThanOrEqual(HEARTBEAT_MS);
});

test('9: what a pod is executing is not executed again with every further claim', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod } = startFleet();
  const pod = await startPod('pod', { machines: [machine], around: script.around });
  script.holds.set('main.work', never());
  for (let count = 1; count <= 5; count++) {
    await pod.fleet.enqueue(machine, {});
    await clock.advance(2_000);
    expect(script.calls).toHaveLength(count);
  }
});

const VERBS = [
  'claim',
  'settle',
  'archive',
  'beat',
  'histories',
  'heads',
] as const satisfies readonly (keyof Store)[];

test.each(VERBS)(
  '10: a store that fails at %s is asked again, and every task ends once',
  async (verb) => {
    const { script, machine, options, clock, startPod, row } = newScene();
    const failed = hear('store.failed');
    const first = await startPod('pod', options);
    script.holds.set('b.work', never());
    const { id } = await first.fleet.enqueue(machine, {});
    await clock.advance(1_000);
    first.crash();
    script.holds.clear();
    // Long enough for an archive.
    script.holds.set('b.validate', pause(clock, STEADY_MS + 20_000));
    const next = await startPod('next', options);
    const original = next.store[verb] as (...given: unknown[]) => Promise<unknown>;
    let failures = 3;
    Object.assign(next.store, {
      [verb]: async (...given: unknown[]) => {
        const isEmpty = Array.isArray(given[0]) && given[0].length === 0;
        if (!isEmpty && failures-- > 0) throw new Error('connection reset');
        return original(...given);
      },
    });
    await clock.advance(STEADY_MS + 60_000);
    expect(await row(id)).toMatchObject({ status: 'completed' });
    expect(script.count('a.work')).toBe(1);
    if (verb !== 'heads') expect(failed.length).toBeGreaterThan(0);
  },
);

test('10: a task is not poison for being old', async () => {
  const { machine, options, clock, startPod, row } = newScene();
  const client = await startPod('client', { ...options, isClient: true });
  const { id } = await client.fleet.enqueue(machine, {}, { runAt: '20h' });
  clock.pass(23 * 3_600_000);
  await startPod('pod', options);
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('11: an id is one task because the statement says so, not because of an index', async () => {
  const { machine, options, clock, startPod, store } = newScene();
  const pod = await startPod('pod', options);
  const { id } = await pod.fleet.enqueue(machine, {});
  const [row] = await store.find([id]);
  const again = await store.enqueue([
    {
      id,
      machine: 'two',
      version: 1,
      queue: 'default',
      priority: 0,
      due: undefined,
      payload: row!.payload!,
      key: undefined,
      keyMs: 1,
      retriesMax: undefined,
      deadlineMs: undefined,
      traceParent: undefined,
    },
  ]);
  expect(again).toMatchObject([{ id, isNew: false }]);
  await clock.advance(1_000);
});

test('12: after a restart a pod finds its own claims and goes on where its disk says', async () => {
  const { script, machine, options, clock, startPod, row } = newScene();
  const pod = await startPod('pod', { ...options, archive: '1h' });
  script.holds.set('b.work', never());
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const [before, image] = [pod.id, pod.crash()];
  script.holds.clear();
  const again = await startPod('pod', { ...options, dataDir: image });
  expect(again.id).not.toBe(before);
  // At once: nobody has to wait until a silence is full.
  await clock.advance(500);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('a.work')).toBe(1);
});
