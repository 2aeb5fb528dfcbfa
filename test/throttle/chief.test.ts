/** What whoever leads makes of a row that is not as it left it, and a pod of words that were wrong. */
import { expect, test } from 'vitest';
import { decodePublished, encodeReport } from '../../src/throttle/fleet/wire.ts';
import {
  Chief,
  defineThrottle,
  HybridLaw,
  Lease,
  PermitPool,
  type PublishedRow,
  policyOf,
  type ReportRow,
  Throttles,
} from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const BEAT_MS = 3_000;
const policy = policyOf('llm', { limits: { inFlight: 12 } });

function leaseOf(key: string): Lease {
  const law = new HybridLaw(0);
  return new Lease(key, law, new PermitPool(policy, law), BEAT_MS);
}

function reportsOf(waiting: number, nowMs: number): ReportRow[] {
  const report = leaseOf('alder').report(waiting, nowMs);
  return [{ pod: 'alder', ageMs: 0, throttles: { llm: encodeReport(report) } }];
}

const sightOf = (rows: PublishedRow[], waiting: number, nowMs: number) => {
  return { rows, reports: reportsOf(waiting, nowMs), nowMs, beatMs: BEAT_MS, chance: () => 0.5 };
};

const rowOf = (epoch: number, state: string): PublishedRow => {
  return { api: 'llm', epoch, ageMs: 0, state };
};

test('of two words for one epoch the one that was written is gone on from', () => {
  const [mine, rival] = [new Chief(() => policy), new Chief(() => policy)];
  mine.look(sightOf([], 5, 9_000));
  const [theirs] = rival.look(sightOf([], 2, 9_000));
  const row = rowOf(1, theirs!.state);
  const [next] = mine.look(sightOf([row], 5, 12_000));
  const read = (state: string) => decodePublished(rowOf(2, state), 12_000)!;
  expect(next!.epoch).toBe(1);
  expect(read(next!.state).recent).toEqual([read(theirs!.state).division]);
  // Nobody knows what others make of that: whoever gets more waits.
  expect(read(next!.state).growsAtMs).toBe(12_000 + 2 * BEAT_MS);
});

test('rows that were read before its own words were there are no reason to begin anew', () => {
  const chief = new Chief(() => policy);
  const [first] = chief.look(sightOf([], 5, 9_000));
  chief.written([first!], 10_000);
  expect(chief.look({ ...sightOf([], 5, 12_000), isEarly: true })).toEqual([]);
  const [next] = chief.look(sightOf([rowOf(1, first!.state)], 5, 15_000));
  expect(next!.epoch).toBe(1);
  // A table that has lost it is believed when it was asked later.
  expect(chief.look(sightOf([], 5, 18_000))).toMatchObject([{ epoch: 0 }]);
});

test('a word that puts a share off for hours is over with the next one', () => {
  const lease = leaseOf('alder');
  const chief = new Chief(() => policy);
  const hear = (epoch: number, nowMs: number, over: object): void => {
    const throttles = { llm: encodeReport(lease.report(40, nowMs)) };
    lease.told(nowMs);
    const reports = [{ pod: 'alder', ageMs: 0, throttles }];
    const [word] = chief.look({ ...sightOf([], 40, nowMs), reports });
    const state = JSON.stringify({ ...JSON.parse(word!.state), ...over });
    lease.heed(decodePublished(rowOf(epoch, state), nowMs)!, nowMs, 0.5);
  };
  hear(1, 3_000, { g: 5 * 3_600_000 });
  hear(2, 6_000, {});
  expect(lease.share).toBe(0);
  hear(3, 9_000, {});
  hear(4, 12_000, {});
  lease.turn(15_000);
  expect(lease.share).toBe(12);
});

test('what was found out outlives a limit that a person has fixed, whoever leads', () => {
  const open = policyOf('llm', { adaptive: true });
  const capOf = (state: string) => decodePublished(rowOf(9, state), 12_000)!.learned.cap;
  const [first] = new Chief(() => open).look(sightOf([], 5, 9_000));
  const found = JSON.stringify({ ...JSON.parse(first!.state), cap: 51.3, good: 51.3 });
  const look = (row: PublishedRow) =>
    new Chief(() => open).look(sightOf([row], 5, 12_000))[0]!.state;
  const pinned = look({ ...rowOf(1, found), pinned: 2 });
  expect(capOf(pinned)).toBe(2);
  const again = look({ ...rowOf(2, pinned), pinned: 3 });
  expect(capOf(again)).toBe(3);
  expect(capOf(look(rowOf(3, again)))).toBe(51.3);
  // As another version has it, or a hand.
  const odd = JSON.stringify({ ...JSON.parse(again), found: 'much' });
  expect(capOf(look(rowOf(3, odd)))).toBe(3);
});

test('what a pod declares holds where whoever leads knows nothing of it', () => {
  const [clock, random] = [new FakeClock(), seededRandom(1)];
  const throttles = [defineThrottle('llm', { limits: { inFlight: 5 } })];
  const pod = new Throttles({ clock, random, isInFleet: true, throttles });
  pod.shares.begin('alder', BEAT_MS, 0);
  pod.of('llm', { isRetry: false, refusals: 0 });
  const told = { pod: 'alder', ageMs: 0, throttles: pod.shares.report(9_000) };
  const plain = { ...reportsOf(40, 9_000)[0]!, pod: 'birch' };
  const chief = new Chief((api) => policyOf(api, { adaptive: true }));
  let [epoch, rows] = [0, [] as PublishedRow[]];
  const look = (reports: ReportRow[], nowMs: number) => {
    const [word] = chief.look({ ...sightOf(rows, 0, nowMs), reports });
    rows = [rowOf(++epoch, word!.state)];
    const { ceiling, learned, division } = decodePublished(rows[0]!, nowMs)!;
    return { ceiling, cap: learned.cap, given: division.level + division.spare };
  };
  expect(look([plain], 9_000)).toEqual({ ceiling: undefined, cap: 8, given: 8 });
  expect(look([told, plain], 12_000)).toEqual({ ceiling: 5, cap: 5, given: 5 });
  // Once no such pod is there any more, more may be found out again.
  expect(look([plain], 15_000)).toMatchObject({ ceiling: undefined });
});

test('a pod whose runs have lately waited wants a permit, and says that nobody waits', async () => {
  const [clock, random] = [new FakeClock(), seededRandom(1)];
  const throttles = [defineThrottle('llm', { adaptive: true })];
  const pod = new Throttles({ clock, random, isInFleet: true, throttles });
  pod.shares.begin('alder', BEAT_MS, 0);
  const api = pod.of('llm', { isRetry: false, refusals: 0, route: 'summarise@1' });
  pod.shares.heard({ madeMs: 0, sentMs: 0, heardMs: 0, rows: [], podCount: 8 });
  const held = await api.acquire();
  const giveUp = new AbortController();
  const later = api.acquire({ signal: giveUp.signal });
  giveUp.abort();
  await expect(later).rejects.toThrow('gave up waiting');
  held.release();
  const told = pod.shares.report(clock.monotonicMs()) as { llm: unknown };
  expect(told.llm).toMatchObject({ w: 0, f: 0, d: 1 });
});

test('a name that nobody calls is not made known by a limit that was fixed for it', () => {
  const [clock, random] = [new FakeClock(), seededRandom(1)];
  const pod = new Throttles({ clock, random, isInFleet: true });
  pod.shares.begin('alder', BEAT_MS, 0);
  const rows = [{ api: 'mistyped', epoch: 0, ageMs: 0, state: undefined, pinned: 5 }];
  pod.shares.heard({ madeMs: 0, sentMs: 0, heardMs: 0, rows, podCount: 1 });
  expect(pod.shares.report(BEAT_MS)).toEqual({});
});
