/** One limit for a whole fleet: pods that share nothing but a store, against an API that counts. */
import { expect, test } from 'vitest';
import { defineMachine, defineThrottle, type Machine } from '../../src/index.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { CountingApi, LATENCY_MS } from './counting-api.ts';
import {
  anyInput,
  HEARTBEAT_MS,
  type PodOptions,
  SILENT_MS,
  type TestFleet,
  type TestPod,
  useTestFleets,
} from './support.ts';

const { startFleet } = useTestFleets();

function stageOf(fleet: TestFleet, room: number, options: object = { adaptive: true }) {
  const api = new CountingApi(fleet.clock, room);
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 1 },
    check: 'none',
    work: ({ use }) => use('llm', api.call),
  });
  const throttles = [defineThrottle('llm', options)];
  const start = (name: string, more: Partial<PodOptions> = {}) =>
    fleet.startPod(name, { machines: [machine], throttles, ...more });
  return { api, machine, start };
}

/** So many at a time, outside of runs: over and over. */
function keepCalling(
  { clock }: TestFleet,
  pod: TestPod,
  api: CountingApi,
  count: number,
): () => void {
  let isOver = false;
  const again = (): void => {
    if (isOver) return;
    const later = () => clock.after(100, again);
    pod.fleet.throttle('llm').use(api.call).then(again, later);
  };
  for (let index = 0; index < count; index++) again();
  return () => {
    isOver = true;
  };
}

async function enqueueMany(pod: TestPod, machine: Machine, count: number): Promise<void> {
  const all = Array.from({ length: count }, () => pod.fleet.enqueue(machine as never, {} as never));
  await Promise.all(all);
}

const capOf = async ({ store }: TestFleet) => {
  const [row] = await store.throttles();
  return row?.state === undefined ? undefined : (JSON.parse(row.state) as { cap: number }).cap;
};

async function statuses({ store }: TestFleet): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of await store.list({ countMax: 1_000 } as never)) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

test('three pods never have more out together than one limit allows, and call all the same', async () => {
  const fleet = startFleet();
  const { api, machine, start } = stageOf(fleet, 100, { limits: { inFlight: 6 } });
  const [alder] = [await start('alder'), await start('birch'), await start('cedar')];
  await fleet.clock.advance(3_000);
  await enqueueMany(alder, machine, 90);
  await fleet.clock.advance(20_000);
  expect(await statuses(fleet)).toEqual({ completed: 90 });
  expect(api.peak).toBeLessThanOrEqual(6);
  expect(api.peak).toBeGreaterThanOrEqual(5);
});

/** When pods begin to beat, and what chance spreads, decides where a permit is when: so several of both. */
test.each([1, 2, 3, 4, 5, 6])(
  'what the API takes is found out, and hardly anything is refused from then on: seed %i',
  async (seed) => {
    const fleet = startFleet();
    const { api, start } = stageOf(fleet, 12);
    const phase = seededRandom(seed);
    const pods: TestPod[] = [];
    for (const name of ['alder', 'birch', 'cedar']) {
      pods.push(await start(name, { random: seededRandom(1_000 * seed + pods.length) }));
      await fleet.clock.advance(Math.floor(HEARTBEAT_MS * phase.fraction()));
    }
    for (const pod of pods) keepCalling(fleet, pod, api, 20);
    await fleet.clock.advance(25_000);
    const [sent, refused] = [api.sent, api.refused];
    await fleet.clock.advance(20_000);
    expect(api.sent - sent).toBeGreaterThan(0.8 * 12 * (20_000 / LATENCY_MS));
    expect(api.refused - refused).toBeLessThan(0.05 * (api.sent - sent));
    expect(await capOf(fleet)).toBeGreaterThan(9);
  },
);

test('nobody has more in hand than can be called soon: others could', async () => {
  const fleet = startFleet();
  const { machine, start } = stageOf(fleet, 100, { limits: { inFlight: 4 } });
  const alder = await start('alder');
  await enqueueMany(alder, machine, 120);
  await fleet.clock.advance(5_000);
  const { claimed = 0, completed = 0 } = await statuses(fleet);
  expect(completed).toBeGreaterThan(20);
  expect(claimed).toBeGreaterThan(3);
  expect(claimed, 'of forty slots').toBeLessThanOrEqual(16);
});

test('no call of the API asks the store for anything', async () => {
  const fleet = startFleet();
  const { machine, start } = stageOf(fleet, 100, { limits: { inFlight: 50 } });
  const alder = await start('alder');
  await fleet.clock.advance(6_000);
  alder.wire.asked.length = 0;
  await enqueueMany(alder, machine, 100);
  await fleet.clock.advance(6_000);
  const asked = alder.wire.asked.filter((verb) => verb !== 'enqueue');
  expect(await statuses(fleet)).toEqual({ completed: 100 });
  expect(asked.filter((verb) => /hrottle/.test(verb)).length).toBeLessThanOrEqual(8);
});

test('a next leader goes on with what the last one knew, and nobody calls more meanwhile', async () => {
  const fleet = startFleet();
  const { api, start } = stageOf(fleet, 12);
  const pods = [await start('alder'), await start('birch'), await start('cedar')];
  const [alder, birch, cedar] = pods as [TestPod, TestPod, TestPod];
  for (const pod of [birch, cedar]) keepCalling(fleet, pod, api, 20);
  await fleet.clock.advance(25_000);
  const cap = (await capOf(fleet))!;
  alder.crash();
  const { sent, refused } = api;
  await fleet.clock.advance(SILENT_MS + 6 * HEARTBEAT_MS);
  expect(await capOf(fleet)).toBeGreaterThan(0.8 * cap);
  expect(api.sent - sent).toBeGreaterThan(0.6 * 12 * (11_000 / LATENCY_MS));
  expect(api.refused - refused).toBeLessThanOrEqual(0.05 * (api.sent - sent));
  expect(birch.fleet.status.pod?.leader).toBe(birch.id);
});

test('a limit that was found out survives all pods', async () => {
  const fleet = startFleet();
  const { api, start } = stageOf(fleet, 12);
  const alder = await start('alder');
  const stop = keepCalling(fleet, alder, api, 30);
  await fleet.clock.advance(25_000);
  const [learned] = await fleet.store.throttles();
  const { good } = JSON.parse(learned!.state!) as { good: number };
  expect(good).toBeGreaterThan(9);
  alder.crash();
  stop();
  await fleet.clock.advance(120_000);
  const birch = await start('birch');
  keepCalling(fleet, birch, api, 30);
  const [before] = await fleet.store.throttles();
  let [word] = await fleet.store.throttles();
  for (let count = 0; count < 60 && word!.epoch === before!.epoch; count++) {
    await fleet.clock.advance(500);
    [word] = await fleet.store.throttles();
  }
  const { cap: next } = JSON.parse(word!.state!) as { cap: number };
  // From nothing it would have begun with 8.
  expect(next).toBeGreaterThanOrEqual(0.9 * good);
});

test('a pod that is cut off keeps at most half of an equal share, and the rest goes to the others', async () => {
  const fleet = startFleet();
  const { api, start } = stageOf(fleet, 100, { limits: { inFlight: 8 } });
  const [alder, birch] = [await start('alder'), await start('birch')];
  // Outside of runs, which a pod that nobody hears does not go on with.
  for (const pod of [alder, birch]) keepCalling(fleet, pod, api, 10);
  await fleet.clock.advance(12_000);
  api.peak = 0;
  await fleet.clock.advance(2_000);
  expect(api.peak).toBe(8);
  birch.wire.isCut = true;
  await fleet.clock.advance(60_000);
  expect(birch.fleet.throttle('llm').snapshot().limit).toBe(2);
  expect(alder.fleet.throttle('llm').snapshot().limit).toBe(8);
  expect(api.peak).toBeLessThanOrEqual(8 + 2);
  birch.wire.isCut = false;
  await fleet.clock.advance(10_000);
  api.peak = 0;
  await fleet.clock.advance(5_000);
  expect(api.peak).toBeLessThanOrEqual(8);
});

test('a pod that drains wants nothing any more', async () => {
  const fleet = startFleet();
  const machine = defineMachine({
    name: 'holder',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ use }) =>
      use('llm', () => new Promise<void>((done) => fleet.clock.after(20_000, () => done()))),
  });
  const alder = await fleet.startPod('alder', { machines: [machine] });
  await enqueueMany(alder, machine, 30);
  await fleet.clock.advance(3_000);
  const demand = async () => {
    const [row] = await fleet.store.pods();
    return (row!.report as { throttles: Record<string, { d: number }> }).throttles['llm']!.d;
  };
  expect(await demand()).toBeGreaterThan(0);
  const drained = alder.fleet.drain();
  await fleet.clock.advance(2 * HEARTBEAT_MS);
  expect(await demand()).toBe(0);
  await fleet.clock.advance(60_000);
  await drained;
});

test('an API that is down is left alone by all pods but one, and found again', async () => {
  const fleet = startFleet();
  const { api, start } = stageOf(fleet, 12);
  const pods = [await start('alder'), await start('birch'), await start('cedar')];
  for (const pod of pods) keepCalling(fleet, pod, api, 8);
  await fleet.clock.advance(10_000);
  api.isDown = true;
  await fleet.clock.advance(15_000);
  const sent = api.sent;
  await fleet.clock.advance(15_000);
  expect(api.sent - sent, 'probes, of one pod').toBeLessThan(40);
  const [row] = await fleet.store.throttles();
  expect(JSON.parse(row!.state!).breaker).not.toBe('closed');
  api.isDown = false;
  await fleet.clock.advance(30_000);
  const back = api.sent;
  await fleet.clock.advance(5_000);
  expect(api.sent - back).toBeGreaterThan(25);
});

test('a wait of more than five seconds parks the run: no slot, no attempt, and anybody goes on', async () => {
  const fleet = startFleet();
  const { clock, startPod, row, history } = fleet;
  let calls = 0;
  const machine = defineMachine({
    name: 'told',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 1 },
    check: 'none',
    work: ({ use, attempt }) =>
      use('llm', () => {
        calls++;
        if (calls > 1) return attempt;
        throw Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '60' } });
      }),
  });
  const alder = await startPod('alder', { machines: [machine] });
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({
    status: 'waiting',
    waitFor: 'throttle',
    claimedBy: undefined,
    retryCount: 0,
  });
  expect(alder.fleet.status.pod?.held).toBe(0);
  alder.crash();
  await startPod('birch', { machines: [machine] });
  await clock.advance(50_000);
  expect(calls).toBe(1);
  await clock.advance(30_000);
  expect(await row(id)).toMatchObject({ status: 'completed', retryCount: 0, crashes: 0 });
  expect(await history(id)).not.toContain('FAILED');
});

test('a run that is refused again and again waits longer each time, whoever goes on with it', async () => {
  const fleet = startFleet();
  const { clock, startPod } = fleet;
  const times: number[] = [];
  const machine = defineMachine({
    name: 'refused',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ use }): Promise<never> =>
      use('llm', () => {
        times.push(clock.monotonicMs());
        throw Object.assign(new Error('busy'), { status: 429 });
      }),
  });
  const options = { machines: [machine], random: { ...seededRandom(1), fraction: () => 0.9 } };
  const alder = await startPod('alder', options);
  await startPod('birch', options);
  await alder.fleet.enqueue(machine, {});
  await clock.advance('3m');
  const gaps = times.slice(1).map((at, index) => at - times[index]!);
  expect(gaps.length).toBeGreaterThan(6);
  expect(
    gaps.slice(5).every((gap) => gap > 10_000),
    `${gaps}`,
  ).toBe(true);
});
