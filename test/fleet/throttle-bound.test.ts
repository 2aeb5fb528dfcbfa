/** One limit for a whole fleet while words are lost or late: what is out together stays within the bound. */
import { expect, test } from 'vitest';
import { defineMachine, defineThrottle } from '../../src/index.ts';
import { CountingApi } from './counting-api.ts';
import { anyInput, HEARTBEAT_MS, type TestFleet, type TestPod, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
const CAP = 12;

async function stageOf(names: readonly string[], options: object = {}) {
  const fleet = startFleet();
  const api = new CountingApi(fleet.clock, 1_000);
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ use }) => use('llm', api.call),
  });
  const throttles = [defineThrottle('llm', { limits: { inFlight: CAP }, ...options })];
  const pods: TestPod[] = [];
  for (const name of names)
    pods.push(await fleet.startPod(name, { machines: [machine], throttles }));
  return { fleet, api, pods };
}

/** So many at a time, outside of runs: over and over. */
function keepCalling({ clock }: TestFleet, pod: TestPod, api: CountingApi, count: number): void {
  const again = (): void => {
    pod.fleet
      .throttle('llm')
      .use(api.call)
      .then(again, () => clock.after(100, again));
  };
  for (let index = 0; index < count; index++) again();
}

const limitOf = (pod: TestPod) => pod.fleet.throttle('llm').snapshot().limit;

/** The most that was out at once while so much time passed. */
async function peakOver({ clock }: TestFleet, api: CountingApi, ms: number): Promise<number> {
  api.peak = api.busy;
  await clock.advance(ms);
  return api.peak;
}

test("what a pod that is not heard had is nobody else's while it may still use it", async () => {
  const { fleet, api, pods } = await stageOf(['alder', 'birch']);
  const [alder, birch] = pods as [TestPod, TestPod];
  keepCalling(fleet, birch, api, 40);
  await fleet.clock.advance(12_000);
  expect(limitOf(birch)).toBeGreaterThan(8);
  birch.wire.isCut = true;
  keepCalling(fleet, alder, api, 40);
  // Half of an equal share is what a pod keeps that is cut off.
  expect(await peakOver(fleet, api, 30_000)).toBeLessThanOrEqual(CAP + CAP / 2 / 2);
});

test('a pod that begins while the only other one is not heard leaves it what it may still use', async () => {
  const { fleet, api, pods } = await stageOf(['alder']);
  const [alder] = pods as [TestPod];
  keepCalling(fleet, alder, api, 40);
  await fleet.clock.advance(20 * HEARTBEAT_MS);
  alder.wire.isCut = true;
  await fleet.clock.advance(4 * HEARTBEAT_MS);
  const throttles = [defineThrottle('llm', { limits: { inFlight: CAP } })];
  const birch = await fleet.startPod('birch', { machines: [], throttles });
  keepCalling(fleet, birch, api, 40);
  expect(await peakOver(fleet, api, 2 * HEARTBEAT_MS)).toBeLessThanOrEqual(CAP);
  expect(await fleet.podStatus(alder.id)).toBe('up');
});

test('pods that come back one after the other when the store is back get no more than there is', async () => {
  const { fleet, api, pods } = await stageOf(['alder', 'birch', 'cedar', 'durian']);
  for (const pod of pods) keepCalling(fleet, pod, api, 40);
  await fleet.clock.advance(12_000);
  for (const pod of pods) pod.wire.isCut = true;
  await fleet.clock.advance(60_000);
  // Whoever leads is back first, and must not take those who are still on their way for gone.
  const peaks: number[] = [];
  for (const [index, pod] of pods.entries()) {
    pod.wire.isCut = false;
    peaks.push(await peakOver(fleet, api, (index === 0 ? 2.8 : 0.3) * HEARTBEAT_MS));
  }
  peaks.push(await peakOver(fleet, api, 10_000));
  expect(Math.max(...peaks)).toBeLessThanOrEqual(CAP);
  expect(pods.map(limitOf)).toEqual([3, 3, 3, 3]);
});

/** Of a short one whoever divides may not even have noticed: it is asked for its word. */
test.each([4_000, 6_000, 10_000, 60_000])(
  'a pod has its share again three heartbeats after an outage of %i ms',
  async (outageMs) => {
    const { fleet, api, pods } = await stageOf(['alder']);
    const [alder] = pods as [TestPod];
    keepCalling(fleet, alder, api, 40);
    await fleet.clock.advance(45_000);
    expect(limitOf(alder)).toBe(CAP);
    alder.wire.isCut = true;
    await fleet.clock.advance(outageMs);
    expect(limitOf(alder)).toBe(CAP / 2);
    alder.wire.isCut = false;
    await fleet.clock.advance(3.5 * HEARTBEAT_MS);
    expect(limitOf(alder)).toBe(CAP);
  },
);

test('a table that has lost what was said is believed, and the next word holds', async () => {
  const { fleet, api, pods } = await stageOf(['alder', 'birch']);
  for (const pod of pods) keepCalling(fleet, pod, api, 40);
  await fleet.clock.advance(15_000);
  const row = fleet.tables.throttles.get('llm')!;
  fleet.tables.throttles.set('llm', { ...row, epoch: row.epoch + 100_000 });
  await fleet.clock.advance(5_000);
  fleet.tables.throttles.set('llm', { ...row, madeAt: fleet.clock.now() });
  const { clock, startPod } = fleet;
  const throttles = [defineThrottle('llm', { limits: { inFlight: CAP } })];
  const third = await startPod('cedar', { machines: [], throttles });
  keepCalling(fleet, third, api, 40);
  expect(await peakOver(fleet, api, 15_000)).toBeLessThanOrEqual(CAP + 1);
  expect([...pods, third].map(limitOf)).toEqual([4, 4, 4]);
  fleet.tables.throttles.delete('llm');
  await clock.advance(10_000);
  expect([...pods, third].map(limitOf)).toEqual([4, 4, 4]);
});

test('an API that was called long ago is shared again, however many others were published since', async () => {
  const { fleet, api, pods } = await stageOf(['alder', 'birch']);
  const { tables, clock } = fleet;
  const madeAt = clock.now();
  const row = { epoch: 7, state: undefined, pin: undefined };
  tables.throttles.set('llm', { ...row, madeAt: madeAt - 3_600_000 });
  for (let index = 0; index < 110; index++) {
    tables.throttles.set(`api-${index}`, { ...row, madeAt });
  }
  for (const pod of pods) keepCalling(fleet, pod, api, 40);
  await clock.advance(20_000);
  expect(pods.map(limitOf)).toEqual([6, 6]);
  expect(api.peak).toBeLessThanOrEqual(CAP + 1);
});

test('of many pods that join at once each has its part of a call, and not all of them call at once', async () => {
  const { fleet, api, pods } = await stageOf(['alder']);
  keepCalling(fleet, pods[0]!, api, 40);
  await fleet.clock.advance(20_000);
  expect(limitOf(pods[0]!)).toBe(CAP);
  const throttles = [defineThrottle('llm', { limits: { inFlight: CAP } })];
  const joining = Array.from({ length: 12 }, (_, index) =>
    fleet.startPod(`young-${index}`, { machines: [], throttles }),
  );
  const young = await Promise.all(joining);
  api.peak = api.busy;
  for (const pod of young) keepCalling(fleet, pod, api, 40);
  await fleet.clock.advance(10 * HEARTBEAT_MS);
  // A twentieth of the limit is half of a call: with each of the twelve it would be twelve calls.
  expect(api.peak).toBeLessThanOrEqual(CAP + 3);
  expect(young.map(limitOf).reduce((all, limit) => all + limit, 0)).toBeGreaterThan(CAP / 2);
});
