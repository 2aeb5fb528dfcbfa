/** What a fleet shares where pods call more APIs than are looked at, and what people may fix of it. */
import { expect, test } from 'vitest';
import { sharedApis } from '../../src/throttle/fleet/shared-apis.ts';
import { throttleViewOf } from '../../src/throttle/fleet/view.ts';
import { decodePublished, encodeReport } from '../../src/throttle/fleet/wire.ts';
import { Chief, type PodReport, policyOf, type ReportRow } from '../../src/throttle/index.ts';

function reportOf(demand: number, throttled = 0): PodReport {
  const second = { sent: 9, timedOut: 0, failed: 0, ok: 0, latencyMsSum: 0, throttled, at: 99 };
  return {
    ...{ atMs: 100_000, mark: 1, beatMs: 3_000, seconds: [second] },
    ...{ latencies: [], latencyMsSum: 0, answers: 0, inFlight: demand, waiting: 0, demand },
  };
}

function rowsOf(demands: Readonly<Record<string, PodReport>>, pod = 'alder'): ReportRow {
  const told = Object.entries(demands).map(([api, report]) => [api, encodeReport(report)]);
  return { pod, ageMs: 0, seq: 1, throttles: Object.fromEntries(told) };
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

test('what cannot be read weighs nothing, and breaks nothing', () => {
  const odd = [null, undefined, 'text', { x: 7, a: null }];
  const rows = odd.map((throttles, index) => ({ pod: `p${index}`, ageMs: 0, seq: 1, throttles }));
  expect(sharedApis([...rows, rowsOf({ b: reportOf(1) })], 1, NONE)).toEqual(['b']);
});

test('whoever leads looks at the hundred that matter', () => {
  const chief = new Chief((api) => policyOf(api, {}));
  const idle = Array.from({ length: 120 }, (_, index) => [`idle-${index}`, reportOf(0)] as const);
  const reports = [rowsOf(Object.fromEntries(idle)), rowsOf({ wanted: reportOf(3) }, 'birch')];
  const times = { readMs: 100_000, nowMs: 100_000, beatMs: 3_000, chance: () => 0.5 };
  const words = chief.look({ rows: [], reports, ...times });
  expect(words).toHaveLength(100);
  expect(words.map(({ api }) => api)).toContain('wanted');
});

test('a limit that a person fixes is not more than what was declared, and that is said', () => {
  const options = { limits: { inFlight: 12 }, probe: 'off' } as const;
  const chief = new Chief((api) => policyOf(api, options));
  const pin = { api: 'llm', epoch: 1, ageMs: 0, state: undefined, pinned: 50 };
  const times = { readMs: 100_000, nowMs: 100_000, beatMs: 3_000, chance: () => 0.5 };
  const reports = [rowsOf({ llm: reportOf(40) })];
  const [word] = chief.look({ rows: [pin], reports, ...times });
  const row = { ...pin, state: word!.state, pinnedBy: 'ada', pinnedUntil: undefined };
  expect(decodePublished(row, 100_000)).toMatchObject({ ceiling: 12, division: { level: 12 } });
  const view = throttleViewOf(row, []);
  expect(view).toMatchObject({ cap: 12, ceiling: 12, pinned: 50 });
  expect(view.state).toContain('as ada has fixed 50, but 12 are declared at most');
});
