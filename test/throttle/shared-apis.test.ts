/** What a fleet shares where pods call more APIs than are looked at, and what people may fix of it. */
import { describe, expect, test } from 'vitest';
import { sharedApis } from '../../src/throttle/fleet/shared-apis.ts';
import { throttleViewOf } from '../../src/throttle/fleet/view.ts';
import { decodePublished, encodeReport } from '../../src/throttle/fleet/wire.ts';
import {
  Chief,
  defineThrottle,
  type PodReport,
  type PublishedRow,
  policyOf,
  type ReportRow,
  type ThrottleDefinition,
  Throttles,
} from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { published } from './published.ts';

function reportOf(demand: number, throttled = 0): PodReport {
  const second = { sent: 9, timedOut: 0, failed: 0, ok: 0, latencyMsSum: 0, throttled, at: 99 };
  return {
    ...{ atMs: 100_000, mark: 1, beatMs: 3_000, seconds: [second] },
    ...{ latencies: [], latencyMsSum: 0, answers: 0, inFlight: demand, waiting: 0, demand },
  };
}

function rowsOf(demands: Readonly<Record<string, PodReport>>, pod = 'alder'): ReportRow {
  const told = Object.entries(demands).map(([api, report]) => [api, encodeReport(report)]);
  return { pod, ageMs: 0, throttles: Object.fromEntries(told) };
}

const NONE = new Set<string>();

test('all are shared where they are few, however little they are wanted', () => {
  const row = rowsOf({ b: reportOf(0), a: reportOf(4) });
  expect(sharedApis([row], 2, NONE)).toEqual(['a', 'b']);
});

test('where they are too many, those that are wanted or refuse come first, and not by their names', () => {
  const idle = Object.fromEntries(['a', 'b', 'c', 'd'].map((api) => [api, reportOf(0)]));
  const rows = [
    rowsOf({ ...idle, y: reportOf(2) }),
    rowsOf({ ...idle, z: reportOf(0, 3) }, 'birch'),
  ];
  expect(sharedApis(rows, 2, NONE)).toEqual(['y', 'z']);
  expect(sharedApis(rows, 3, NONE)).toEqual(['a', 'y', 'z']);
});

test('one that is shared keeps its place until another is wanted twice as much', () => {
  const rows = (wanted: number) => [rowsOf({ a: reportOf(10), b: reportOf(wanted) })];
  expect(sharedApis(rows(19), 1, new Set(['a']))).toEqual(['a']);
  expect(sharedApis(rows(21), 1, new Set(['a']))).toEqual(['b']);
});

test('what counts is what all pods want together; and of those that nobody wants, places stay', () => {
  const rows = [rowsOf({ a: reportOf(3), b: reportOf(4) }), rowsOf({ a: reportOf(3) }, 'birch')];
  expect(sharedApis(rows, 1, NONE)).toEqual(['a']);
  const idle = [rowsOf({ a: reportOf(0), b: reportOf(0) })];
  expect(sharedApis(idle, 1, new Set(['b']))).toEqual(['b']);
});

test('what cannot be read weighs nothing, and breaks nothing', () => {
  const odd = [null, undefined, 'text', { x: 7, a: null }];
  const rows = odd.map((throttles, index) => ({ pod: `p${index}`, ageMs: 0, throttles }));
  expect(sharedApis([...rows, rowsOf({ b: reportOf(1) })], 1, NONE)).toEqual(['b']);
});

test('whoever leads looks at the hundred that matter', () => {
  const chief = new Chief((api) => policyOf(api, { adaptive: true }));
  const idle = Array.from({ length: 120 }, (_, index) => [`idle-${index}`, reportOf(0)] as const);
  const reports = [rowsOf(Object.fromEntries(idle)), rowsOf({ wanted: reportOf(3) }, 'birch')];
  const times = { nowMs: 100_000, beatMs: 3_000, chance: () => 0.5 };
  const words = chief.look({ rows: [], reports, ...times });
  expect(words).toHaveLength(100);
  expect(words.map(({ api }) => api)).toContain('wanted');
});

test('whoever leads knows which of them it looked at before', () => {
  const chief = new Chief((api) => policyOf(api, { adaptive: true }));
  const busy = Array.from({ length: 99 }, (_, index) => [`busy-${index}`, reportOf(99)] as const);
  const lookAt = (demands: Readonly<Record<string, PodReport>>, nowMs: number) => {
    const reports = [rowsOf(Object.fromEntries(busy)), rowsOf(demands, 'birch')];
    const words = chief.look({ rows: [], reports, nowMs, beatMs: 3_000, chance: () => 0.5 });
    return words.map(({ api }) => api).filter((api) => !api.startsWith('busy'));
  };
  expect(lookAt({ a: reportOf(10) }, 100_000)).toEqual(['a']);
  expect(lookAt({ a: reportOf(10), b: reportOf(15) }, 103_000)).toEqual(['a']);
  expect(lookAt({ a: reportOf(10), b: reportOf(25) }, 106_000)).toEqual(['b']);
});

test('a pod tells of the hundred that it wants most', () => {
  const throttles = new Throttles({
    clock: new FakeClock(),
    random: seededRandom(1),
    isInFleet: true,
  });
  throttles.shares.begin('alder', 3_000, 0);
  for (let index = 0; index < 100; index++) throttles.throttleOf(`idle-${index}`);
  throttles.shares.heard({ madeMs: 0, sentMs: 0, heardMs: 0, rows: [], podCount: 1 });
  throttles.of('wanted', { isRetry: false, refusals: 0 }).tryAcquire();
  const told = Object.keys(throttles.shares.report(3_000) as object);
  expect(told).toHaveLength(100);
  expect(told).toContain('wanted');
});

describe('a pod that joins', () => {
  const found = ['llm', 'other'].map((name) => defineThrottle(name, { adaptive: true }));
  const stage = (beatMs = 3_000, defined: readonly ThrottleDefinition[] = found) => {
    const clock = new FakeClock();
    const random = seededRandom(1);
    const throttles = new Throttles({ clock, random, isInFleet: true, throttles: defined });
    throttles.shares.begin('alder', beatMs, clock.monotonicMs());
    const api = throttles.of('llm', { isRetry: false, refusals: 0 });
    return { clock, throttles, api };
  };

  test('calls nothing before its first heartbeat is answered, and then at once if it is alone', async () => {
    const { clock, throttles, api } = stage();
    expect(api.tryAcquire()).toBeUndefined();
    let isThere = false;
    const waiting = Promise.resolve(api.acquire()).then(() => {
      isThere = true;
    });
    await clock.advance(20);
    expect(isThere).toBe(false);
    const heardMs = clock.monotonicMs();
    throttles.shares.heard({ madeMs: 0, sentMs: 0, heardMs, rows: [], podCount: 1 });
    await waiting;
    expect(clock.monotonicMs()).toBe(heardMs);
  });

  test('calls nothing before it knows who has begun with it, and then a little', async () => {
    const throttle = defineThrottle('llm', { limits: { inFlight: 48 } });
    const { clock, throttles } = stage(3_000, [throttle]);
    const { lease } = throttles.throttleOf('llm');
    const sharesAfter = async (ms: number, podCount: number) => {
      await clock.advance(ms);
      const nowMs = clock.monotonicMs();
      throttles.shares.heard({ madeMs: nowMs, sentMs: nowMs, heardMs: nowMs, rows: [], podCount });
      return lease!.share;
    };
    // The others that begin with it are not there yet.
    expect(await sharesAfter(10, 2)).toBe(0);
    expect(await sharesAfter(3_000, 8)).toBe(1);
  });

  test('has one call, and not all, where it was alone and hears nothing more', async () => {
    const throttle = defineThrottle('llm', { limits: { inFlight: 48 } });
    const { clock, throttles } = stage(3_000, [throttle]);
    const { lease } = throttles.throttleOf('llm');
    const heardMs = clock.monotonicMs();
    throttles.shares.heard({ madeMs: heardMs, sentMs: heardMs, heardMs, rows: [], podCount: 1 });
    expect(lease!.share).toBe(48);
    lease!.turn(heardMs + 5_900);
    expect(lease!.share).toBe(48);
    lease!.turn(heardMs + 6_000);
    expect(lease!.share).toBe(1);
  });

  test('leaves half of all to those in the table whom nobody hears', () => {
    const { clock, throttles } = stage(3_000, [
      defineThrottle('llm', { limits: { inFlight: 48 } }),
    ]);
    const atMs = clock.monotonicMs();
    const beat = { madeMs: atMs, sentMs: atMs, heardMs: atMs, rows: [], podCount: 1 };
    const state = published({
      learned: { cap: 48, good: 48, latencyMs: 500 },
      madeMs: 0,
      podCount: 7,
    });
    // What was said is old: the store was away, or has been put back.
    const rows = [{ api: 'llm', epoch: 4, ageMs: 600_000, state }];
    throttles.shares.heard({ ...beat, rows, areUnheard: true });
    expect(throttles.throttleOf('llm').lease!.share).toBe(24);
  });

  test('does not take itself for the only one in a table that has lost the others', async () => {
    const { clock, throttles } = stage(3_000, [
      defineThrottle('llm', { limits: { inFlight: 48 } }),
    ]);
    const shareAfter = async (ms: number, podCount: number) => {
      await clock.advance(ms);
      const nowMs = clock.monotonicMs();
      throttles.shares.heard({ madeMs: nowMs, sentMs: nowMs, heardMs: nowMs, rows: [], podCount });
      return throttles.throttleOf('llm').lease!.share;
    };
    await shareAfter(10, 8);
    throttles.shares.begin('birch', 3_000, clock.monotonicMs());
    expect(await shareAfter(3_000, 1)).toBe(0);
    expect(await shareAfter(3_000, 1)).toBe(1);
    throttles.shares.begin('cedar', 3_000, clock.monotonicMs());
    expect(await shareAfter(60_000, 1)).toBe(48);
  });

  test('has little of what others have found out, though it calls at once', () => {
    const { clock, throttles } = stage();
    const state = published({ learned: { cap: 40, good: 40, latencyMs: 500 }, podCount: 7 });
    const rows = ['llm', 'other'].map((api) => ({ api, epoch: 4, ageMs: 0, state }));
    const [heardMs, podCount] = [clock.monotonicMs(), 8];
    const shares = [1, 2].map(() => {
      throttles.shares.heard({ madeMs: heardMs, sentMs: heardMs, heardMs, rows, podCount });
      return ['llm', 'other'].map((api) => throttles.throttleOf(api).lease!.share);
    });
    expect(shares).toEqual([
      [0, 0],
      [0.25, 0.25],
    ]);
  });

  test('keeps to what was fixed before anybody has called', () => {
    const { clock, throttles } = stage();
    const heardMs = clock.monotonicMs();
    const rows = [{ api: 'llm', epoch: 0, ageMs: 0, state: undefined, pinned: 2 }];
    throttles.shares.heard({ madeMs: heardMs, sentMs: heardMs, heardMs, rows, podCount: 1 });
    expect(throttles.throttleOf('llm').lease!.share).toBe(2);
  });

  test('has one call where none is answered for two heartbeats', async () => {
    const { clock, api } = stage(2_500);
    const permits = [0, 1].map(() => Promise.resolve(api.acquire()));
    let count = 0;
    for (const permit of permits) permit.then(() => count++).catch(() => undefined);
    await clock.advance(4_900);
    expect(count).toBe(0);
    await clock.advance(200);
    expect(count).toBe(1);
    await clock.advance(1_000);
    expect(count).toBe(1);
  });
});

test('a limit that a person fixes is what is divided and shown, and nothing is found out meanwhile', () => {
  const chief = new Chief((api) => policyOf(api, { adaptive: true }));
  let row: PublishedRow = { api: 'llm', epoch: 0, ageMs: 0, state: undefined, pinned: 5 };
  const lookAt = (nowMs: number) => {
    const { seconds, ...report } = reportOf(40, 6);
    const recent = [5, 4, 3, 2, 1].map((ago) => ({ ...seconds[0]!, at: nowMs / 1_000 - ago }));
    const told = { atMs: nowMs, mark: nowMs, wantsWord: true, seconds: recent };
    const reports = [rowsOf({ llm: { ...report, ...told } })];
    const [word] = chief.look({ rows: [row], reports, nowMs, beatMs: 3_000, chance: () => 0.5 });
    row = { ...row, epoch: word!.epoch + 1, state: word!.state };
    return decodePublished(row, nowMs)!;
  };
  for (let nowMs = 100_000; nowMs < 130_000; nowMs += 3_000) {
    const { division, learned } = lookAt(nowMs);
    expect([division.level, learned.cap, learned.good]).toEqual([5, 5, undefined]);
  }
  row = { ...row, pinned: undefined };
  expect(lookAt(133_000).division.level).toBe(8);
});

test('a limit that a person fixes is not more than what was declared, and that is said', () => {
  const options = { limits: { inFlight: 12 } } as const;
  const chief = new Chief((api) => policyOf(api, options));
  const pin = { api: 'llm', epoch: 1, ageMs: 0, state: undefined, pinned: 50 };
  const times = { nowMs: 100_000, beatMs: 3_000, chance: () => 0.5 };
  const reports = [rowsOf({ llm: reportOf(40) })];
  const [word] = chief.look({ rows: [pin], reports, ...times });
  const row = { ...pin, state: word!.state, pinnedBy: 'ada', pinnedUntil: undefined };
  expect(decodePublished(row, 100_000)).toMatchObject({ ceiling: 12, division: { level: 12 } });
  const view = throttleViewOf(row, []);
  expect(view).toMatchObject({ cap: 12, ceiling: 12, pinned: 50 });
  expect(view.state).toContain('as ada has fixed 50, but 12 are declared at most');
});

test('of an API that no pod is left to call nothing is said to be out', () => {
  const chief = new Chief((api) => policyOf(api, { adaptive: true }));
  const times = { nowMs: 100_000, beatMs: 3_000, chance: () => 0.5 };
  const throttles = { llm: reportOf(40) };
  const [word] = chief.look({ rows: [], reports: [rowsOf(throttles)], ...times });
  const unpinned = { pinnedBy: undefined, pinnedUntil: undefined };
  const row = { api: 'llm', epoch: 1, ageMs: 0, state: word!.state, ...unpinned };
  const pod = { pod: 'pod-0', name: 'alder', status: 'up', report: rowsOf(throttles) };
  expect(throttleViewOf(row, [pod]).state).toMatch(/permits are out in 1 pod/);
  const gone = throttleViewOf(row, [{ ...pod, status: 'down' }]);
  expect(gone.state).toBe('no pod is there that calls it');
});
