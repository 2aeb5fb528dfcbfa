/** What people are shown of APIs whose runs are parked, and whose pods are gone. */
import { expect, test } from 'vitest';
import { parkedRuns } from '../../src/admin/desk/parked.ts';
import { throttleViews } from '../../src/admin/desk/throttle-views.ts';
import { defineMachine, defineThrottle } from '../../src/index.ts';
import { identityCodec } from '../../src/journal/index.ts';
import { encodeReport } from '../../src/throttle/fleet/wire.ts';
import { throttleViewOf } from '../../src/throttle/index.ts';
import { anyInput, SILENT_MS, type TestFleet, useTestFleets } from '../fleet/support.ts';
import { published } from '../throttle/published.ts';

const { startFleet } = useTestFleets();

/** A pod that calls an API of one call a second, with many more to make. */
async function crowded({ startPod, clock }: TestFleet) {
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ use }) => use('slow', () => 1),
  });
  const throttles = [defineThrottle('slow', { limits: { perSecond: 1 } })];
  const alder = await startPod('alder', { machines: [machine], throttles, archive: '100ms' });
  await Promise.all(Array.from({ length: 60 }, () => alder.fleet.enqueue(machine, {})));
  await clock.advance(20_000);
  return alder;
}

async function look({ store }: TestFleet) {
  const reader = await store.openReader();
  const [view] = await throttleViews(reader, identityCodec);
  const rows = await store.list({ status: 'waiting', countMax: 1_000 });
  const parked = rows.filter(({ waitFor }) => waitFor === 'throttle').length;
  return { view: view!, parked };
}

test('runs that are parked for an API are counted, and told of in its sentence', async () => {
  const fleet = startFleet();
  await crowded(fleet);
  const { view, parked } = await look(fleet);
  expect(parked).toBeGreaterThan(10);
  expect(view.parked).toEqual({ count: parked, isExact: true });
  expect(view.state).toMatch(new RegExp(`, and ${parked} runs are parked for it$`));
});

test('where nobody is left, nothing is said to be out or to wait; what is parked still is', async () => {
  const fleet = startFleet();
  const alder = await crowded(fleet);
  expect((await look(fleet)).view.now).toBeDefined();
  alder.crash();
  await fleet.clock.advance(2 * SILENT_MS);
  const { view, parked } = await look(fleet);
  expect([view.now, view.pods]).toEqual([undefined, []]);
  expect(view.state).toBe(`no pod is there that calls it, and ${parked} runs are parked for it`);
});

test('of more than are looked at, it is said that there are more', async () => {
  const fleet = startFleet();
  await crowded(fleet);
  const reader = await fleet.store.openReader();
  const page: typeof reader.page = (query) => reader.page({ ...query, countMax: 3 });
  const lastSegments: typeof reader.lastSegments = (runs) => reader.lastSegments(runs);
  const parked = await parkedRuns({ page, lastSegments }, identityCodec);
  expect(parked.for('slow')).toEqual({ count: 3, isExact: false });
  expect(parked.for('other')).toEqual({ count: 0, isExact: false });
});

const REPORT = {
  ...{ atMs: 0, mark: 1, beatMs: 3_000, seconds: [], latencies: [], latencyMsSum: 0, answers: 0 },
  ...{ inFlight: 0, waiting: 2, demand: 2 },
};
const POD = { pod: 'p', name: 'alder', status: 'up', silentMs: 0 };
const report = (...apis: string[]) => ({
  throttles: Object.fromEntries(apis.map((api) => [api, encodeReport(REPORT)])),
});
const row = (ageMs: number, sum: Parameters<typeof published>[1] = {}) => ({
  ...{ api: 'slow', epoch: 1, ageMs, pinnedBy: undefined, pinnedUntil: undefined },
  state: published({}, { throttled: 0, ...sum }),
});

test('whoever waits while permits are left waits for a turn, and not for a permit', () => {
  const pods = [{ ...POD, report: report('slow') }];
  const stateOf = (inFlight: number, waiting = 2) =>
    throttleViewOf(row(0, { inFlight, waiting }), pods).state;
  expect(stateOf(0)).toBe('0 of 6 permits are out in 1 pod, 2 wait for their turn');
  expect(stateOf(6)).toBe('6 of 6 permits are out in 1 pod, 2 wait for one');
  expect(stateOf(0, 1)).toMatch(/, 1 waits for its turn$/);
  expect(stateOf(6, 1)).toMatch(/, 1 waits for one$/);
});

test('what was said long ago is not how it is now', () => {
  const pods = [{ ...POD, report: report('slow') }];
  expect(throttleViewOf(row(30_000), pods).now).toMatchObject({ inFlight: 5 });
  const old = throttleViewOf(row(60_000), pods);
  expect([old.now, old.state]).toEqual([undefined, 'nothing was said of it for 1 min']);
  const silent = [{ ...POD, silentMs: 20_000, report: report('slow') }];
  expect(throttleViewOf(row(0), silent).state).toBe('no pod is there that calls it');
});

test('where pods call more APIs than they tell of, one that is not told of may be called', () => {
  const apis = Array.from({ length: 100 }, (_, index) => `api-${index}`);
  const view = throttleViewOf(row(0), [{ ...POD, report: report(...apis) }]);
  expect(view.state).toMatch(/^pods tell of 100 APIs, and not of this one/);
});
