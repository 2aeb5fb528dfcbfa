/** A slow rate that was declared for a whole fleet: nearly all of it is used, and never more. */
import { expect, test } from 'vitest';
import { defineMachine, defineThrottle } from '../../src/index.ts';
import { anyInput, type TestPod, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

test.each([
  { perSecond: 1, podCount: 4, ms: 60_000 },
  { perSecond: 0.2, podCount: 2, ms: 200_000 },
])('$perSecond a second among $podCount pods', async ({ perSecond, podCount, ms }) => {
  const fleet = startFleet();
  const { clock } = fleet;
  let called = 0;
  const call = (): Promise<void> => {
    called++;
    return new Promise((done) => void clock.after(100, done));
  };
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ use }) => use('llm', call),
  });
  const throttles = [defineThrottle('llm', { limits: { perSecond, burst: 1 } })];
  const pods: TestPod[] = [];
  for (let index = 0; index < podCount; index++) {
    const options = { machines: [machine], throttles, heartbeat: 3_000, silence: 15_000 };
    pods.push(await fleet.startPod(`pod-${index}`, options));
    await clock.advance(700);
  }
  const count = 1.5 * perSecond * ms + 30_000;
  const all = Array.from({ length: count / 1_000 }, () => pods[0]!.fleet.enqueue(machine, {}));
  await Promise.all(all);
  await clock.advance(30_000);
  const before = called;
  await clock.advance(ms);
  const most = (perSecond * ms) / 1_000;
  expect(called - before).toBeGreaterThanOrEqual(0.9 * most);
  expect(called - before).toBeLessThanOrEqual(most + 1);
});
