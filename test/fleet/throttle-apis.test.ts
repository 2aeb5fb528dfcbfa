/** Several APIs in one fleet: what one has no room for takes nothing from another. */
import { expect, test } from 'vitest';
import { defineMachine, defineThrottle, type Machine } from '../../src/index.ts';
import { CountingApi, LATENCY_MS } from './counting-api.ts';
import { anyInput, type TestFleet, type TestPod, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
/** A busy test host, which makes pods modest, leaves a quarter of them. */
const SLOTS = 160;

/** A machine whose runs call one API each: the one that their input names, or its own. */
function callerOf(name: string, call: (api: string) => Promise<string>): Machine {
  return defineMachine({
    name,
    version: 1,
    input: anyInput,
    retry: { attemptMax: 1 },
    check: 'none',
    work: ({ input, use }) => use(input.id ?? name, () => call(input.id ?? name)),
  }) as unknown as Machine;
}

const told = async (): Promise<never> => {
  throw Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '50' } });
};

async function enqueue(pod: TestPod, machine: Machine, count: number, input = {}): Promise<void> {
  const all = Array.from({ length: count }, () =>
    pod.fleet.enqueue(machine as never, input as never),
  );
  await Promise.all(all);
}

async function claims({ clock }: TestFleet, pods: readonly TestPod[], ms: number): Promise<number> {
  for (const { wire } of pods) wire.asked.length = 0;
  await clock.advance(ms);
  return pods.flatMap(({ wire }) => wire.asked).filter((verb) => verb === 'claim').length;
}

const limited = (...names: string[]) =>
  names.map((name) => defineThrottle(name, { limits: { inFlight: 10 } }));
const mostIn = (ms: number) => 10 * (ms / LATENCY_MS);

test('two APIs that are well are both called as much as they take, whichever backlog is older', async () => {
  const fleet = startFleet();
  const apis = { a: new CountingApi(fleet.clock, 10), b: new CountingApi(fleet.clock, 10) };
  const machines = [callerOf('a', apis.a.call), callerOf('b', apis.b.call)] as const;
  const options = { slots: SLOTS, machines, throttles: limited('a', 'b') };
  const pods = [await fleet.startPod('alder', options), await fleet.startPod('birch', options)];
  for (const machine of machines) await enqueue(pods[0]!, machine, 330);
  await fleet.clock.advance(5_000);
  const before = [apis.a.sent, apis.b.sent] as const;
  const asked = await claims(fleet, pods, 6_000);
  expect(apis.a.sent - before[0]).toBeGreaterThan(0.9 * mostIn(6_000));
  expect(apis.b.sent - before[1]).toBeGreaterThan(0.7 * mostIn(6_000));
  expect(asked, 'claims of two pods in 6 s').toBeLessThan(100);
});

test('an API that asks to be left alone does not keep another one from being called', async () => {
  const fleet = startFleet();
  const well = new CountingApi(fleet.clock, 10);
  const machines = [callerOf('a', told), callerOf('b', well.call)] as const;
  const options = { slots: SLOTS, machines, throttles: limited('b') };
  const pods = [await fleet.startPod('alder', options), await fleet.startPod('birch', options)];
  for (const machine of machines) await enqueue(pods[0]!, machine, 330);
  await fleet.clock.advance(5_000);
  const before = well.sent;
  await fleet.clock.advance(6_000);
  expect(well.sent - before).toBeGreaterThan(0.9 * mostIn(6_000));
});

test('of a machine that calls two APIs those runs go on whose API is well', async () => {
  const fleet = startFleet();
  const well = new CountingApi(fleet.clock, 10);
  const machine = callerOf('llm', (api) => (api === 'eu' ? told() : well.call()));
  const options = { slots: SLOTS, machines: [machine], throttles: limited('us') };
  const pods = [await fleet.startPod('alder', options), await fleet.startPod('birch', options)];
  for (let count = 0; count < 20; count++) {
    for (const id of ['us', 'eu']) await enqueue(pods[0]!, machine, 20, { id });
  }
  await fleet.clock.advance(5_000);
  const before = well.sent;
  await fleet.clock.advance(6_000);
  expect(well.sent - before).toBeGreaterThan(0.8 * mostIn(6_000));
});

test('runs of a slow rate at the head of the queue do not keep those behind them for good', async () => {
  const fleet = startFleet();
  const well = new CountingApi(fleet.clock, 10);
  const machine = callerOf('llm', () => well.call());
  const slow = defineThrottle('slow', { limits: { perSecond: 1 / 30 } });
  const pod = await fleet.startPod('alder', { slots: 8, machines: [machine], throttles: [slow] });
  await enqueue(pod, machine, 12, { id: 'slow' });
  await enqueue(pod, machine, 40, { id: 'us' });
  await fleet.clock.advance(90_000);
  expect(well.sent).toBeGreaterThanOrEqual(40);
});

test('a run that calls two APIs in one phase is not begun while the second one has no room', async () => {
  const fleet = startFleet();
  let begun = 0;
  const machine = defineMachine({
    name: 'both',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 1 },
    check: 'none',
    work: async ({ use }) => {
      await use('a', () => void begun++);
      return use('b', told);
    },
  }) as unknown as Machine;
  const throttles = ['a', 'b'].map((name) => defineThrottle(name, { adaptive: true }));
  const alder = await fleet.startPod('alder', { machines: [machine], throttles });
  await enqueue(alder, machine, 200);
  await fleet.clock.advance(5_000);
  expect(begun).toBeLessThanOrEqual(40);
});
