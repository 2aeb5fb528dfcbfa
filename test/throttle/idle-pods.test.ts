/** A declared rate is for those who call: pods that have nothing to do hold nothing of it back. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { divideRates, PARTS, portionOf, wantedParts } from '../../src/throttle/fleet/rates.ts';
import { divide } from '../../src/throttle/fleet/shares.ts';
import { decodePublished, decodeReport, encodeReport } from '../../src/throttle/fleet/wire.ts';
import type { ThrottleOptions } from '../../src/throttle/index.ts';
import { Latencies } from '../../src/throttle/record/latencies.ts';
import { published } from './published.ts';

const BEAT_MS = 3_000;

/** An API without any limit of its own. */
function sceneOf(pods: number, busy: number, throttle: ThrottleOptions): Scene {
  const api = { permits: 5_000 };
  return new Scene({
    kind: 'inflight',
    pods,
    busy,
    seed: 5,
    by: 'ours',
    beatMs: BEAT_MS,
    throttle,
    api,
  });
}

/** The most calls beyond the rate in any time between these seconds. */
function beyond(scene: Scene, perSecond: number, from: number, until: number): number {
  let [run, most] = [0, 0];
  for (const { sent } of scene.seconds(from, until)) {
    run = Math.max(0, run + sent - perSecond);
    most = Math.max(most, run);
  }
  return most;
}

test.each([
  { limits: { perSecond: 100 }, pods: 8, busy: 1 },
  { limits: { perSecond: 100, inFlight: 200 }, pods: 8, busy: 2 },
  { limits: { perSecond: 100, inFlight: 1_000 }, pods: 32, busy: 2 },
  { limits: { perSecond: 20, inFlight: 500 }, pods: 8, busy: 1 },
  { limits: { costPerMinute: 1_200, inFlight: 500 }, pods: 8, busy: 1 },
  { limits: { perSecond: 100 }, start: 500, pods: 8, busy: 1 },
])('$busy of $pods pods have all of $limits', ({ pods, busy, ...throttle }) => {
  const { perSecond = 20 } = throttle.limits as { perSecond?: number };
  const scene = sceneOf(pods, busy, throttle);
  scene.runTo(180);
  expect(scene.figures(60, 180).sent).toBeGreaterThan(0.95 * 120 * perSecond);
});

test('pods that join, leave and lead take no more of a rate together than was declared', () => {
  const [perSecond, pods] = [100, 24];
  const scene = sceneOf(pods, pods / 2, { limits: { perSecond, inFlight: 400 } });
  scene.runTo(60);
  scene.join(pods);
  scene.runTo(120);
  scene.fleet!.changeLeader();
  scene.runTo(180);
  scene.leave(pods);
  scene.runTo(240);
  const burst = perSecond / 2;
  expect(beyond(scene, perSecond, 0, 60)).toBeLessThanOrEqual(burst + pods);
  expect(beyond(scene, 1.05 * perSecond, 60, 120)).toBeLessThanOrEqual(2 * pods);
  expect(beyond(scene, perSecond, 120, 240)).toBeLessThanOrEqual(2 * pods);
  for (const from of [20, 80, 140, 200]) {
    expect(scene.figures(from, from + 40).sent).toBeGreaterThan(0.9 * 40 * perSecond);
  }
});

const asking = (parts: readonly (number | undefined)[]) =>
  parts.map((one, index) => ({ key: `pod-${100 + index}`, demand: 1, parts: one }));

/** Of 10 permits that are enough for all. */
function portionsOf(parts: readonly (number | undefined)[], share = 1): number[] {
  const pods = asking(parts);
  const division = { ...divide(10, pods), rates: divideRates(pods, share) };
  return pods.map((pod) => portionOf(division, 10, pod));
}

test('all portions together are no more than there is, whoever wants what', () => {
  const parts = fc.array(fc.integer({ min: 0, max: PARTS }), { minLength: 1, maxLength: 80 });
  const share = fc.constantFrom(0.1, 0.5, 1);
  fc.assert(
    fc.property(parts, share, (all, of) => {
      const sum = portionsOf([...all, 1], of).reduce((total, one) => total + one, 0);
      expect(sum).toBeLessThanOrEqual(of + 1e-9);
      expect(sum).toBeGreaterThan(of - 0.001);
    }),
  );
});

test('what nobody wants is there for all, and whoever wants all leaves the others what they use', () => {
  expect(portionsOf([10_000, 1, 1, 1])[1]).toBeCloseTo(0.225, 3);
  expect(portionsOf([PARTS, PARTS, 10_000, 1])).toEqual([0.44999, 0.44999, 0.1, 0.00001]);
});

test('while a pod of an older version is there, rates go by permits, as it has them', () => {
  expect(portionsOf([PARTS, 1, undefined, 1])).toEqual([0.3, 0.3, 0.2, 0.2]);
});

test('a pod wants what it could use where calls wait, else about what it has called', () => {
  const latencies = new Latencies(100);
  for (let count = 0; count < 9; count++) latencies.recordBucket(0);
  const pool = { declared: { allPerSecond: 100 }, inFlight: 3, latencies: new Latencies(100) };
  const of = { waiting: 0, sent: 80, seconds: 10, podCount: 4 };
  expect(wantedParts(pool, of)).toBe(0.1 * PARTS);
  expect(wantedParts(pool, { ...of, waiting: 27 })).toBe(0.3 * PARTS);
  expect(wantedParts({ ...pool, latencies }, { ...of, waiting: 27 })).toBe(PARTS);
  expect(wantedParts(pool, { ...of, sent: 0 })).toBe(0.005 * PARTS);
  expect(wantedParts(pool, { ...of, owed: 0.4 })).toBe(0.4 * PARTS);
  expect(wantedParts(pool, { ...of, owed: 3 })).toBe(PARTS);
  expect(wantedParts({ ...pool, declared: { allPerSecond: Number.POSITIVE_INFINITY } }, of)).toBe(
    0,
  );
});

test('what was divided of rates is read as it was written, and words of older versions are read, too', () => {
  const row = { api: 'api', epoch: 1, ageMs: 0 };
  const division = { level: 6, spare: 0, isPlenty: false, arc: undefined };
  const rated = { ...division, rates: { level: 700, spare: 3 } };
  const over = { division: rated, recent: [division, rated], ratesGrowAtMs: 13_000 };
  const read = decodePublished({ ...row, state: published(over) }, 10_000);
  expect(read).toMatchObject({ ...over, growsAtMs: 10_000 });
  const older = decodePublished({ ...row, state: published() }, 10_000);
  expect(older?.division.rates).toBeUndefined();
  expect(older?.ratesGrowAtMs).toBe(10_000);
  const report = {
    ...{ atMs: 0, mark: 1, beatMs: BEAT_MS, seconds: [], latencies: [], latencyMsSum: 0 },
    ...{ answers: 0, inFlight: 0, waiting: 0, demand: 4 },
  };
  expect(decodeReport(encodeReport({ ...report, parts: 250 }))?.parts).toBe(250);
  expect(decodeReport(encodeReport(report))).toMatchObject({ demand: 4, parts: undefined });
});
