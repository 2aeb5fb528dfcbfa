/** Waits: in place where they are short, nobody's where they are long, and never beyond the deadline. */
import { expect, test } from 'vitest';
import { defineMachine, retryAfter } from '../../src/index.ts';
import { never } from '../support/fleets.ts';
import { settable } from '../support/settable-clock.ts';
import { onlyWork, Script, sleeper } from './script.ts';
import { anyInput, SILENT_MS, STEADY_MS, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

test("a sleep of more than five seconds is nobody's, and any pod goes on when it is over", async () => {
  const script = new Script();
  const machine = sleeper(script, '60s');
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', options);
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({
    status: 'waiting',
    waitFor: 'sleep',
    claimedBy: undefined,
  });
  expect(alder.fleet.status.pod?.held).toBe(0);
  alder.crash();
  await startPod('birch', options);
  await clock.advance(56_000);
  expect(script.count('b.check')).toBe(0);
  await clock.advance(4_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0, retryCount: 0 });
  expect(script.count('a.work')).toBe(1);
  expect(script.count('a.probe'), 'nothing was interrupted').toBe(0);
});

test('the history of a run that has waited is asked for once when it is claimed again', async () => {
  const script = new Script();
  const machine = sleeper(script, '60s');
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const asked: unknown[] = [];
  const { histories } = pod.store;
  pod.store.histories = (runs) => {
    asked.push(...runs);
    return histories(runs);
  };
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(70_000);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 2 });
  expect(asked).toEqual([{ task: id, generation: 1 }]);
});

test('a sleep of up to five seconds keeps its place', async () => {
  const script = new Script();
  const machine = sleeper(script, '5s');
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(4_000);
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
});

test('I27: a wait in place that is taken over takes as long as it was to, whatever clocks show', async () => {
  const script = new Script();
  const machine = sleeper(script, '4s');
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '100ms' } as const;
  const alder = await startPod('alder', options);
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  alder.crash();
  // Birch's wall clock is an hour behind.
  const { clock: late } = settable(clock, -3_600_000);
  await startPod('birch', { ...options, clock: late });
  await clock.advance(STEADY_MS + SILENT_MS + 10_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('a backoff of more than five seconds is parked, and its failure counted there', async () => {
  const script = new Script();
  const machine = defineMachine({
    name: 'slow',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 5, backoff: () => 20_000 },
    check: 'none',
    work: script.phases.work,
  });
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  script.throws.set('main.work', () => new Error('not today'));
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'retry', retryCount: 1 });
  script.throws.clear();
  await clock.advance(30_000);
  expect(await row(id)).toMatchObject({ status: 'completed', retryCount: 1 });
  expect(script.calls).toEqual(['main.work@1', 'main.work@3']);
});

test.each([
  ['a backoff', 'FAILED', 2, () => new Error('not today')],
  ['a retryAfter', 'POSTPONED', 1, () => retryAfter('20s', 'busy')],
])(
  'I29, I41: who dies in the phase after %s that was parked has made an attempt',
  async (_, wait, attemptMax, thrown) => {
    const script = new Script();
    const retry = { attemptMax, backoff: () => 20_000 };
    const shape = { name: 'slow', version: 1, input: anyInput, retry, ...script.phases };
    const machine = defineMachine(shape);
    const { clock, startPod, row, history } = startFleet();
    const options = { machines: [machine], around: script.around };
    const alder = await startPod('alder', options);
    script.throws.set('main.work', thrown);
    const { id } = await alder.fleet.enqueue(machine, {});
    await clock.advance(1_000);
    expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'retry' });
    script.throws.clear();
    script.holds.set('main.probe', never());
    await clock.advance(24_000);
    // The store has who was given it, and the claim alone says that its wait was over.
    expect(await history(id)).toEqual(['STARTED', 'DONE', wait, 'TAKEN']);
    expect(script.count('main.probe')).toBe(1);
    alder.crash();
    script.holds.clear();
    await startPod('birch', options);
    await clock.advance(STEADY_MS + SILENT_MS + 5_000);
    expect((await history(id)).slice(4)).toEqual(['TAKEN', 'INTERRUPTED', 'EXHAUSTED']);
    expect(await row(id)).toMatchObject({ outcome: 'exhausted', crashes: 1 });
    expect(script.count('main.work'), 'its attempts were spent').toBe(1);
  },
);

test('I29: and so has who dies there before the store has heard that it was given the run', async () => {
  const script = new Script();
  const machine = defineMachine({
    name: 'slow',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 2, backoff: () => 20_000 },
    check: 'none',
    work: script.phases.work,
  });
  const { clock, startPod, row, history } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const alder = await startPod('alder', options);
  script.throws.set('main.work', () => new Error('not today'));
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'retry' });
  script.throws.clear();
  script.holds.set('main.work', never());
  await clock.advance(24_000);
  expect(script.count('main.work')).toBe(2);
  expect(await history(id)).toEqual(['STARTED', 'FAILED']);
  alder.crash();
  script.holds.clear();
  await startPod('birch', options);
  await clock.advance(STEADY_MS + SILENT_MS + 5_000);
  expect(await history(id)).toEqual(['STARTED', 'FAILED', 'TAKEN', 'EXHAUSTED']);
  expect(await row(id)).toMatchObject({ outcome: 'exhausted', crashes: 1 });
  expect(script.count('main.work'), 'its attempts were spent').toBe(2);
});

/** How long after its enqueueing it is begun by the pod after the one that died in it, and its history. */
async function diesAfterItsWait(limitMs: number) {
  const script = new Script();
  const machine = defineMachine({
    name: 'slow',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 5, backoff: () => 20_000 },
    timeout: { run: limitMs },
    check: 'none',
    work: script.phases.work,
  });
  const { clock, startPod, history } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const alder = await startPod('alder', options);
  script.throws.set('main.work', () => new Error('not today'));
  const { id } = await alder.fleet.enqueue(machine, {});
  const begunMs = clock.monotonicMs();
  await clock.advance(1_000);
  script.throws.clear();
  script.holds.set('main.work', never());
  await clock.advance(24_000);
  expect(script.count('main.work')).toBe(2);
  alder.crash();
  await startPod('birch', options);
  while (script.count('main.work') < 3) await clock.advance(100);
  const afterMs = clock.monotonicMs() - begunMs;
  script.holds.clear();
  await clock.advance(10_000);
  return { afterMs, history: await history(id) };
}

test('I29: and so has who dies there where the next has hardly any of its time left', async () => {
  const { afterMs } = await diesAfterItsWait(3_600_000);
  const { history } = await diesAfterItsWait(afterMs + 500);
  expect(history).toEqual(['STARTED', 'FAILED', 'TAKEN', 'INTERRUPTED', 'TIMED_OUT']);
});

test('retriesMax is a cap by whoever enqueued it, over all parks: the failure beyond it ends the task', async () => {
  const script = new Script();
  const machine = defineMachine({
    name: 'slow',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 50, backoff: () => 6_000 },
    check: 'none',
    work: script.phases.work,
  });
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  script.throws.set('main.work', () => new Error('never'));
  const { id } = await pod.fleet.enqueue(machine, {}, { retriesMax: 2 });
  await clock.advance(120_000);
  const { status, outcome, retryCount, error } = await row(id);
  expect({ status, outcome, retryCount }).toEqual({
    status: 'failed',
    outcome: 'exhausted',
    retryCount: 3,
  });
  expect(error, 'the failure that was one too many').toContain('never');
  expect(script.calls).toHaveLength(3);
});

test('H23: a task that only ever postpones itself ends at its deadline, which no take-over moves', async () => {
  const script = new Script();
  const machine = defineMachine({
    name: 'later',
    version: 1,
    input: anyInput,
    timeout: { run: '5m' },
    check: 'none',
    work: script.phases.work,
  });
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', options);
  script.throws.set('main.work', () => retryAfter('20s', 'busy'));
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(100_000);
  alder.crash();
  await startPod('birch', options);
  await clock.advance(190_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', retryCount: 0 });
  await clock.advance(30_000);
  expect(await row(id)).toMatchObject({ status: 'failed', outcome: 'timedOut' });
});

test('H23: without a time limit of its own, a task has a day', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const { id } = await pod.fleet.enqueue(machine, {});
  const { deadlineAt, createdAt } = await row(id);
  expect(deadlineAt! - createdAt).toBe(24 * 3_600_000);
  await clock.settle();
});
