/** What the store says a pod holds, and what it does hold, find to each other. */
import { expect, test } from 'vitest';
import { gate, never } from '../support/fleets.ts';
import { onlyWork, Script, twoSteps } from './script.ts';
import { HEARTBEAT_MS, useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();

test('H4: a claim whose answer was lost is found, begun under its own epoch, and never released', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  pod.wire.losesAnswers.set('claim', 1);
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(100);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1 });
  expect(script.calls).toEqual([]);
  await clock.advance(6 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 1, claims: 1 });
  expect(script.count('a.work')).toBe(1);
});

test('H4: an answer that comes after all is the same claim: it is begun once', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row, store } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const answer = gate();
  pod.wire.holdsAnswers.set('claim', answer.opened);
  script.holds.set('main.work', never());
  const { id } = await pod.fleet.enqueue(machine, {});
  // No look at what it holds while an answer is still on its way; and its heart beats on.
  await clock.advance(10 * HEARTBEAT_MS);
  expect(pod.wire.asked).not.toContain('held');
  const [beating] = await store.pods();
  expect(beating!.silentMs).toBeLessThanOrEqual(HEARTBEAT_MS);
  pod.wire.holdsAnswers.clear();
  answer.open();
  await clock.advance(10 * HEARTBEAT_MS);
  expect(script.calls).toEqual(['main.work@1']);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1 });
});

test('a task that ends while the store is being asked is not begun again', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  // One claim is lost, so that the counts differ; the other ends while the answer is on its way.
  const work = gate();
  script.holds.set('main.work', work.opened);
  const first = await pod.fleet.enqueue(machine, {});
  await clock.advance(100);
  expect(script.calls).toEqual(['main.work@1']);
  script.holds.clear();
  pod.wire.losesAnswers.set('claim', 1);
  const lost = await pod.fleet.enqueue(machine, {});
  const answer = gate();
  pod.wire.holdsAnswers.set('held', answer.opened);
  await clock.advance(5 * HEARTBEAT_MS);
  expect(pod.wire.asked).toContain('held');
  work.open();
  await clock.advance(100);
  expect(await row(first.id)).toMatchObject({ status: 'completed' });
  answer.open();
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await row(lost.id)).toMatchObject({ status: 'completed' });
  expect(script.calls).toEqual(['main.work@1', 'main.work@1']);
});

test('a run that the store has given to somebody else is dropped: its handler is told', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row, tables } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const lost = hear('claim.lost');
  script.holds.set('main.work', never());
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(100);
  // As an operator's statement would.
  Object.assign(tables.tasks.get(id)!, { status: 'pending', claimedBy: undefined, claimEpoch: 2 });
  script.holds.clear();
  await clock.advance(10 * HEARTBEAT_MS);
  expect(lost).toMatchObject([{ run: id, epoch: 1 }]);
  expect(script.signals[0]!.aborted).toBe(true);
  expect(script.calls).toEqual(['main.work@1', 'main.work@3']);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 3 });
});

test('a count that differs for a moment, because claims are on their way, is not looked into', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around, slots: 100 });
  for (let second = 0; second < 10; second++) {
    for (let count = 0; count < 5; count++) await pod.fleet.enqueue(machine, {});
    await clock.advance(HEARTBEAT_MS);
  }
  expect(pod.wire.asked).not.toContain('held');
  expect(script.calls).toHaveLength(50);
});
