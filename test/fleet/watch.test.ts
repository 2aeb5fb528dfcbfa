/** Who leads, and who has fallen silent, as one pod sees it. */
import { expect, test } from 'vitest';
import { Watch } from '../../src/fleet/watch.ts';
import type { PodGlimpse, PodId } from '../../src/store/index.ts';

const HEARTBEAT_MS = 1_000;
const SILENT_MS = 5_000;

function glimpse(pod: string, seq: number, silentMs: number, more: Partial<PodGlimpse> = {}) {
  const deadBy = undefined;
  return { pod: pod as PodId, name: pod, status: 'up' as const, seq, silentMs, deadBy, ...more };
}

function newWatch(): Watch {
  return new Watch({ heartbeatMs: HEARTBEAT_MS, silentMs: SILENT_MS });
}

/** The answer to a heartbeat at `nowMs`. */
function show(watch: Watch, fleet: readonly PodGlimpse[], nowMs: number, seesAll = true): void {
  const up = fleet.filter(({ status }) => status === 'up').length;
  watch.see({ fleet, seesAll, headcount: { up, heard: up, mark: '' } }, nowMs);
}

/** Beats once a second from `fromMs` to `toMs`; birch beat last at `birchMs`, with number 7. */
function beat(watch: Watch, fromMs: number, toMs: number, birchMs: number): void {
  for (let now = fromMs; now <= toMs; now += HEARTBEAT_MS) {
    show(watch, [glimpse('alder', now, 0), glimpse('birch', 7, now - birchMs)], now);
  }
}

test('the oldest pod that is up and has been heard of lately leads', () => {
  const watch = newWatch();
  expect(watch.leader).toBeUndefined();
  show(
    watch,
    [
      glimpse('dead', 1, 0, { status: 'dead' }),
      glimpse('draining', 1, 0, { status: 'draining' }),
      glimpse('silent', 1, SILENT_MS),
      glimpse('birch', 1, SILENT_MS - 1),
      glimpse('cedar', 1, 0),
    ],
    0,
  );
  expect(watch.leader).toBe('birch');
});

test('a pod is steady once it was heard without a break for twice the silence', () => {
  const watch = newWatch();
  beat(watch, 0, 9_000, 0);
  expect(watch.isSteady(9_999)).toBe(false);
  beat(watch, 10_000, 10_000, 0);
  expect(watch.isSteady(10_000)).toBe(true);
});

test('whoever was not answered for two heartbeats is not steady, long before it is answered again', () => {
  const watch = newWatch();
  beat(watch, 0, 20_000, 0);
  expect(watch.isSteady(22_000)).toBe(true);
  expect(watch.isSteady(22_001)).toBe(false);
});

test('a break of more than two heartbeats begins the count anew, for itself and for what it saw', () => {
  const watch = newWatch();
  beat(watch, 0, 10_000, 0);
  expect(watch.silent(10_000).map(({ pod }) => pod)).toEqual(['birch']);
  beat(watch, 12_001, 12_001, 0);
  expect(watch.isSteady(12_001)).toBe(false);
  expect(watch.silent(12_001), 'after an outage every heartbeat looks old').toEqual([]);
  beat(watch, 13_001, 21_001, 0);
  expect(watch.isSteady(21_001)).toBe(false);
  beat(watch, 22_001, 22_001, 0);
  expect(watch.isSteady(22_001)).toBe(true);
});

test('a break of two heartbeats is none', () => {
  const watch = newWatch();
  beat(watch, 0, 4_000, 0);
  beat(watch, 6_000, 10_000, 0);
  expect(watch.isSteady(10_000)).toBe(true);
});

test('a pod that the store calls silent is not believed dead before its beat was seen twice', () => {
  const watch = newWatch();
  // By the store's clock birch has been silent for a minute when it is first seen.
  show(watch, [glimpse('birch', 7, 60_000)], 0);
  expect(watch.silent(0)).toEqual([]);
  show(watch, [glimpse('birch', 7, 61_000)], 1_000);
  show(watch, [glimpse('birch', 7, 62_000)], 2_000);
  expect(watch.silent(3_999)).toEqual([]);
  expect(watch.silent(4_000).map(({ pod }) => pod)).toEqual(['birch']);
});

test('a beat in between ends the suspicion', () => {
  const watch = newWatch();
  for (let now = 0; now <= 3_000; now += 1_000) show(watch, [glimpse('birch', 7, 60_000)], now);
  show(watch, [glimpse('birch', 8, 60_000)], 4_000);
  expect(watch.silent(4_000)).toEqual([]);
  expect(watch.silent(7_999)).toEqual([]);
  expect(watch.silent(8_000)).toHaveLength(1);
});

test('whoever is dead or down already is not silent', () => {
  const watch = newWatch();
  const dead = { status: 'dead' } as const;
  show(watch, [glimpse('birch', 7, 60_000, dead)], 0);
  show(watch, [glimpse('birch', 7, 60_000, dead)], 2_000);
  expect(watch.silent(9_000)).toEqual([]);
});

test('a draining pod can fall silent too', () => {
  const watch = newWatch();
  for (let now = 0; now <= 4_000; now += 2_000)
    show(watch, [glimpse('birch', 7, 9_000, { status: 'draining' })], now);
  expect(watch.silent(4_000)).toHaveLength(1);
});

test('it says when to look again: the moment the silence is full, not a heartbeat later', () => {
  const watch = newWatch();
  beat(watch, 0, 4_000, 0);
  expect(watch.nextSilenceMs(4_000)).toBe(1_000);
  expect(watch.silent(4_999)).toEqual([]);
  expect(watch.silent(5_000).map(({ pod }) => pod)).toEqual(['birch']);
});

test('there is nothing to look for while everybody beats', () => {
  const watch = newWatch();
  show(watch, [glimpse('alder', 1, 0), glimpse('birch', 1, 900)], 0);
  expect(watch.nextSilenceMs(0)).toBeUndefined();
});

test('a pod is judged by its own silence, and not by that of whoever watches', () => {
  const watch = newWatch();
  const see = (nowMs: number) =>
    show(
      watch,
      [
        glimpse('patient', 7, nowMs, { silenceMs: 4 * SILENT_MS }),
        glimpse('hasty', 7, nowMs, { silenceMs: 3 * HEARTBEAT_MS }),
      ],
      nowMs,
    );
  for (let nowMs = 0; nowMs <= 3_000; nowMs += HEARTBEAT_MS) see(nowMs);
  expect(watch.silent(3_000).map(({ pod }) => pod)).toEqual(['hasty']);
  for (let nowMs = 4_000; nowMs < 4 * SILENT_MS; nowMs += HEARTBEAT_MS) see(nowMs);
  expect(watch.silent(4 * SILENT_MS - 1).map(({ pod }) => pod)).toEqual(['hasty']);
  expect(watch.leader, 'it was set to be slow, and is not late').toBe('patient');
  expect(watch.silent(4 * SILENT_MS)).toHaveLength(2);
});

test('a silence that is shorter than our own heartbeat is not judged after one look', () => {
  const watch = newWatch();
  const hasty = (silentMs: number) => [glimpse('hasty', 7, silentMs, { silenceMs: 300 })];
  show(watch, hasty(900), 0);
  expect(watch.silent(HEARTBEAT_MS)).toEqual([]);
  show(watch, hasty(900 + HEARTBEAT_MS), HEARTBEAT_MS);
  expect(watch.silent(2 * HEARTBEAT_MS - 1)).toEqual([]);
  expect(watch.silent(2 * HEARTBEAT_MS)).toHaveLength(1);
});

test('who falls silent within a heartbeat of the first is about to, and is not waited for much longer', () => {
  const watch = newWatch();
  const at = (nowMs: number, firstMs: number, lastMs: number) => {
    const silences = [glimpse('birch', 7, nowMs - firstMs), glimpse('cedar', 8, nowMs - lastMs)];
    show(watch, [glimpse('alder', nowMs, 0), ...silences], nowMs);
    return watch.fading(nowMs).map(({ pod }) => pod);
  };
  for (let now = 0; now <= 20_000; now += HEARTBEAT_MS) at(now, now, now);
  for (let now = 21_000; now <= 23_000; now += HEARTBEAT_MS) at(now, 20_000, 20_900);
  expect(at(24_000, 20_000, 20_900)).toEqual(['birch']);
  expect(at(25_000, 20_000, 20_900)).toEqual(['birch', 'cedar']);
  // One that has died long after the first is another death.
  expect(at(28_100, 20_000, 23_500)).toEqual([]);
});

test('a pod that is not shown all of the fleet sweeps nothing, and watches from when it is', () => {
  const watch = newWatch();
  const at = (nowMs: number, seesAll: boolean) =>
    show(watch, [glimpse('birch', 7, nowMs), glimpse('alder', nowMs, 0)], nowMs, seesAll);
  for (let now = 0; now <= 10_000; now += HEARTBEAT_MS) at(now, false);
  expect(watch.leader).toBe('alder');
  expect(watch.isTurnOf('alder' as PodId, 10_000)).toBe(false);
  for (let now = 11_000; now < 15_000; now += HEARTBEAT_MS) {
    at(now, true);
    expect(watch.silent(now)).toEqual([]);
  }
  at(15_000, true);
  expect(watch.silent(15_000).map(({ pod }) => pod)).toEqual(['birch']);
  expect(watch.isTurnOf('alder' as PodId, 15_000)).toBe(true);
});

test('I26: a pod behind the first three waits two turns of what it has seen itself, and no longer', () => {
  const watch = newWatch();
  const names = ['alder', 'birch', 'cedar', 'dogwood', 'elm'];
  const turnOf = (nowMs: number) => {
    const able = names.map((name) => glimpse(name, nowMs, 0));
    show(watch, [...able, glimpse('fir', 7, nowMs)], nowMs);
    return names.filter((name) => watch.isTurnOf(name as PodId, nowMs));
  };
  const turnMs = SILENT_MS + HEARTBEAT_MS;
  for (let now = 0; now < SILENT_MS + turnMs; now += HEARTBEAT_MS) {
    expect(turnOf(now)).toEqual(['alder']);
  }
  expect(turnOf(SILENT_MS + turnMs)).toEqual(['alder', 'birch']);
  for (let now = 1; now < 6; now++) turnOf(SILENT_MS + turnMs + now * HEARTBEAT_MS);
  expect(turnOf(SILENT_MS + 2 * turnMs)).toEqual(names);
});
