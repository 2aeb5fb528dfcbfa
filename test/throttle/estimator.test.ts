/** The estimate that one pod makes for all, and what pods do with their shares of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Estimator } from '../../src/throttle/estimate/estimator.ts';
import { remembered } from '../../src/throttle/estimate/learned.ts';
import { FleetEstimate } from '../../src/throttle/fleet/fleet-estimate.ts';
import { Lease } from '../../src/throttle/fleet/lease.ts';
import type { PodReport, Published } from '../../src/throttle/fleet/words.ts';
import { HybridLaw } from '../../src/throttle/laws/index.ts';
import { PermitPool } from '../../src/throttle/permits/permit-pool.ts';
import { policyOf } from '../../src/throttle/policy.ts';
import { bucketOf } from '../../src/throttle/record/latencies.ts';

const rule = policyOf('api', { adaptive: true });
const TEMPO = { tickMs: 2_000, delayMs: 0 };

/** Two seconds in which `sent` calls a second were sent and so many of them refused. */
function sightAt(nowMs: number, sent: number, throttled: number) {
  const until = Math.floor(nowMs / 1_000);
  const second = { sent, throttled, timedOut: 0, failed: 0, ok: sent - throttled, latencyMsSum: 0 };
  const answers = 2 * (sent - throttled);
  return {
    seconds: [until - 2, until - 1].map((at) => ({ ...second, at })),
    untilMs: until * 1_000,
    latencies: [[bucketOf(500), answers]] as const,
    latencyMsSum: 500 * answers,
    answers,
    inFlight: sent / 2,
    waiting: 100,
  };
}

test('it grows in large steps until the API refuses, and settles at what that lets in', () => {
  const estimator = new Estimator(rule);
  const caps: number[] = [];
  for (let nowMs = 2_000; nowMs < 120_000; nowMs += 2_000) {
    const sent = Math.floor(estimator.cap) * 2;
    estimator.tick(sightAt(nowMs, sent, Math.max(0, sent - 100)), nowMs, TEMPO);
    caps.push(estimator.cap);
  }
  expect(caps).toContain(20);
  expect(caps).toContain(125);
  expect(estimator.cap).toBeGreaterThan(46);
  expect(estimator.cap).toBeLessThan(56);
});

test('at first contact what is on its way is not waited for, up to half of it', () => {
  const grownBy = (moving: number) => {
    const estimator = new Estimator(rule);
    // Half of the eight are out.
    const sight = { ...sightAt(3_000, 8, 0), waiting: 9, moving };
    return estimator.tick(sight, 3_000, { tickMs: 3_000, delayMs: 3_000 });
  };
  expect([0, 2, 4, 8].map(grownBy)).toEqual(['hold', 'hold', 'first', 'first']);
});

test('at first contact more is tried once enough has come back of what was called by the last step', () => {
  const estimator = new Estimator(rule);
  const growths: number[] = [];
  for (let nowMs = 3_000; nowMs < 40_000; nowMs += 3_000) {
    const before = estimator.cap;
    // Until then none of them has.
    const answers = nowMs < 9_000 ? { latencies: [], latencyMsSum: 0, answers: 0 } : {};
    const sight = { ...sightAt(nowMs, 2 * Math.floor(before), 0), ...answers };
    estimator.tick(sight, nowMs, { tickMs: 3_000, delayMs: 3_000 });
    if (estimator.cap > before) growths.push(nowMs);
  }
  expect(growths).toEqual([9_000, 18_000, 27_000, 36_000]);
});

test('a cap that is not used does not grow', () => {
  const estimator = new Estimator(rule);
  for (let nowMs = 2_000; nowMs < 600_000; nowMs += 2_000) {
    estimator.tick(sightAt(nowMs, 4, 0), nowMs, TEMPO);
  }
  expect(estimator.cap).toBe(8);
});

test('permits on their way between pods are not taken for permits that nobody wants', () => {
  const caps = [0, 1].map((moving) => {
    const estimator = new Estimator(rule, { cap: 4, good: 4, latencyMs: 500 });
    for (let nowMs = 2_000; nowMs < 20_000; nowMs += 2_000) {
      const sent = (Math.floor(estimator.cap) - 1) * 2;
      estimator.tick({ ...sightAt(nowMs, sent, 0), moving }, nowMs, TEMPO);
    }
    return estimator.cap;
  });
  expect(caps[0]).toBe(4);
  expect(caps[1]).toBeGreaterThan(5);
});

test('the second in which calls began is no measure of what an API lets in', () => {
  const estimator = new Estimator(rule);
  const sight = sightAt(2_000, 10, 2);
  const seconds = sight.seconds.slice(0, 1);
  expect(estimator.tick({ ...sight, seconds, untilMs: 1_000 }, 2_000, TEMPO)).toBe('hold');
  expect(estimator.cap).toBe(8);
  expect(estimator.tick(sightAt(4_000, 10, 2), 4_000, TEMPO)).toBe('cut');
});

test('a look between two seconds does not begin the wait anew', () => {
  const estimator = new Estimator(rule, {
    cap: 4,
    good: 4,
    latencyMs: 500,
    bad: { cap: 10, atMs: -60_000 },
  });
  for (let nowMs = 2_000; nowMs < 40_000; nowMs += 2_000) {
    const sight = sightAt(nowMs, Math.floor(estimator.cap) * 2, 0);
    estimator.tick(sight, nowMs, TEMPO);
    estimator.tick({ ...sight, seconds: [] }, nowMs + 900, TEMPO);
  }
  expect(estimator.cap).toBeGreaterThan(5);
});

test('a declared limit is never tried to exceed, and comes back after refusals', () => {
  const estimator = new Estimator(policyOf('api', { adaptive: true, limits: { inFlight: 20 } }));
  for (let nowMs = 2_000; nowMs < 20_000; nowMs += 2_000) {
    estimator.tick(sightAt(nowMs, 40, 20), nowMs, TEMPO);
  }
  expect(estimator.cap).toBeLessThan(15);
  for (let nowMs = 20_000; nowMs < 300_000; nowMs += 2_000) {
    estimator.tick(sightAt(nowMs, Math.floor(estimator.cap) * 2, 0), nowMs, TEMPO);
  }
  expect(estimator.cap).toBe(20);
});

test('the cap stays between its bounds, whatever is seen', () => {
  const seen = fc.record({
    sent: fc.integer({ min: 0, max: 10_000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    hint: fc.option(fc.double({ min: 0, max: 1_000, noNaN: true }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(seen, { maxLength: 100 }), (ticks) => {
      const estimator = new Estimator(
        policyOf('api', { adaptive: true, limits: { inFlight: 300 } }),
      );
      for (const [index, { sent, share, hint }] of ticks.entries()) {
        const nowMs = (index + 1) * 2_000;
        const sight = sightAt(nowMs, sent, Math.floor(sent * share));
        estimator.tick({ ...sight, perSecondHint: hint }, nowMs, TEMPO);
        expect(estimator.cap).toBeGreaterThanOrEqual(1);
        expect(estimator.cap).toBeLessThanOrEqual(300);
      }
    }),
  );
});

test('what was learned is a beginning for the next process', () => {
  const learned = { cap: 60, good: 50, latencyMs: 500 };
  expect(new Estimator(rule, remembered(learned)).cap).toBeCloseTo(47.5);
  expect(remembered({ cap: 8, good: undefined, latencyMs: undefined })).toBeUndefined();
});

const BEAT_MS = 2_000;

function podOf(key: string) {
  const law = new HybridLaw(0);
  const pool = new PermitPool(rule, law);
  return { key, pool, lease: new Lease(key, law, pool, BEAT_MS) };
}

/** A report that was made, sent and taken at once. */
function told(lease: Lease, waiting: number, nowMs: number): PodReport {
  const report = lease.report(waiting, nowMs);
  lease.told(nowMs);
  return report;
}

function tickAt(
  estimate: FleetEstimate,
  reports: ReadonlyMap<string, PodReport>,
  nowMs: number,
): Published {
  return estimate.tick(reports, { nowMs, beatMs: BEAT_MS, chance: 0.5 });
}

/** Beats of pods in any order, at any time, with any demand; a leader that ticks, and changes. */
test('shares in force never add up to more than the larger of two caps that follow each other', () => {
  const action = fc.record({
    pod: fc.integer({ min: 0, max: 5 }),
    waiting: fc.integer({ min: 0, max: 40 }),
    afterMs: fc.integer({ min: 0, max: 900 }),
    isTick: fc.boolean(),
    isNewLeader: fc.boolean(),
    chance: fc.double({ min: 0, max: 0.99, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(action, { minLength: 20, maxLength: 150 }), (actions) => {
      const pods = Array.from({ length: 6 }, (_, index) => podOf(`pod-${index}`));
      const beatAtMs = pods.map(() => 0);
      const reports = new Map<string, PodReport>();
      let estimate = new FleetEstimate(rule);
      let published: Published | undefined;
      const caps: number[] = [];
      let nowMs = 10_000;
      let tickedMs = nowMs;
      for (const { pod, waiting, afterMs, isTick, isNewLeader, chance } of actions) {
        nowMs += afterMs;
        if (isTick && nowMs - tickedMs >= BEAT_MS) {
          tickedMs = nowMs;
          if (isNewLeader) estimate = new FleetEstimate(rule, published);
          published = estimate.tick(reports, { nowMs, beatMs: BEAT_MS, chance });
          caps.push(published.learned.cap);
        }
        // A pod that beats in time, as it must to keep its lease; this one now, the late ones with it.
        for (const [index, { key, lease }] of pods.entries()) {
          if (index !== pod && nowMs - beatAtMs[index]! < BEAT_MS - 900) continue;
          beatAtMs[index] = nowMs;
          reports.set(key, told(lease, index === pod ? waiting : 3, nowMs));
          if (published) lease.heed(published, nowMs, chance);
        }
        for (const { lease } of pods) lease.turn(nowMs);
        const held = pods.reduce((all, { lease }) => all + lease.share, 0);
        expect(held).toBeLessThanOrEqual(Math.max(1, ...caps));
      }
    }),
    { numRuns: 50 },
  );
});

/** As before, but a pod is heard whenever it is: in time, late, or after a minute. */
test('only pods that are cut off, or just were, have anything beyond the cap: half of an equal share', () => {
  const [COUNT, CAP] = [4, 12];
  const action = fc.record({
    waiting: fc.integer({ min: 0, max: 40 }),
    afterMs: fc.constantFrom(100, 400, 900, 2_500),
    heard: fc.array(fc.integer({ min: 0, max: COUNT - 1 }), { maxLength: COUNT }),
    isTick: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(action, { minLength: 20, maxLength: 120 }), (actions) => {
      const pods = Array.from({ length: COUNT }, (_, index) => ({
        ...podOf(`pod-${index}`),
        heardMs: Number.NEGATIVE_INFINITY,
        backMs: Number.NEGATIVE_INFINITY,
      }));
      const reports = new Map<string, PodReport>();
      const estimate = new FleetEstimate(policyOf('api', { limits: { inFlight: CAP } }));
      let published: Published | undefined;
      let nowMs = 10_000;
      let tickedMs = nowMs;
      for (const { waiting, afterMs, heard, isTick } of actions) {
        nowMs += afterMs;
        if (isTick || nowMs - tickedMs >= BEAT_MS) {
          tickedMs = nowMs;
          published = tickAt(estimate, reports, nowMs);
        }
        for (const index of new Set(heard)) {
          const pod = pods[index]!;
          if (nowMs - pod.heardMs >= 2 * BEAT_MS) pod.backMs = nowMs;
          pod.heardMs = nowMs;
          reports.set(pod.key, told(pod.lease, waiting + index, nowMs));
          if (published) pod.lease.heed(published, nowMs, 0);
        }
        for (const { lease } of pods) lease.turn(nowMs);
        const isCutOff = ({ heardMs, backMs }: (typeof pods)[number]) =>
          nowMs - heardMs >= 2 * BEAT_MS || nowMs - backMs <= 4 * BEAT_MS;
        const held = pods.reduce((all, { lease }) => all + lease.share, 0);
        const steady = pods.filter((pod) => !isCutOff(pod));
        const own = steady.reduce((all, { lease }) => all + lease.share, 0);
        expect(own, 'of those that are heard').toBeLessThanOrEqual(CAP);
        expect(held).toBeLessThanOrEqual(CAP + (CAP / 2) * (COUNT - steady.length));
      }
    }),
    { numRuns: 100 },
  );
});

test('a new pod has nothing until it is given something', () => {
  const old = podOf('old');
  const young = podOf('young');
  const estimate = new FleetEstimate(rule);
  told(old.lease, 50, 8_000);
  const reports = new Map([['old', told(old.lease, 50, 10_000)]]);
  const first = tickAt(estimate, reports, 10_100);
  for (const nowMs of [10_200, 12_200, 14_200]) old.lease.heed(first, nowMs, 0);
  expect(old.lease.share).toBe(8);
  expect(young.pool.take('normal', 1, 15_000)).toBeUndefined();
  told(young.lease, 50, 13_000);
  reports.set('young', told(young.lease, 50, 15_000));
  reports.set('old', told(old.lease, 50, 15_000));
  const published = tickAt(estimate, reports, 15_100);
  young.lease.heed(published, 15_200, 0);
  expect(young.lease.share).toBe(0);
  old.lease.heed(published, 15_200, 0);
  expect(old.lease.share).toBe(4);
  // Whoever lost it may not have heard of that for two heartbeats.
  young.lease.turn(19_000);
  expect(young.lease.share).toBe(0);
  young.lease.heed(published, 19_100, 0);
  expect(young.lease.share).toBe(4);
});

test('a pod that hears nothing more has half of an equal share when others may have the rest', () => {
  const { lease } = podOf('alone');
  const estimate = new FleetEstimate(rule);
  told(lease, 50, 8_000);
  const reports = new Map([['alone', told(lease, 50, 9_900)]]);
  const published = tickAt(estimate, reports, 10_000);
  for (const nowMs of [10_000, 12_000, 14_000]) lease.heed(published, nowMs, 0);
  expect(lease.share).toBe(8);
  lease.turn(17_900);
  expect(lease.share).toBe(8);
  lease.turn(18_000);
  expect(lease.share).toBe(4);
  for (let nowMs = 18_000; nowMs < 60_000; nowMs += 2_000) lease.turn(nowMs);
  expect(lease.share).toBe(4);
});

test('a pod that is heard again in time has what it had, and one that is late has to be counted again', () => {
  const shares = [19_900, 20_000].map((backMs) => {
    const { lease } = podOf('alone');
    const estimate = new FleetEstimate(rule);
    const published = tickAt(estimate, new Map([['alone', told(lease, 50, 9_900)]]), 10_000);
    for (const nowMs of [10_000, 12_000, 14_000]) lease.heed(published, nowMs, 0);
    lease.turn(18_500);
    expect(lease.share).toBe(4);
    lease.heed(published, backMs, 0);
    const early = lease.share;
    // However often it hears the same.
    lease.heed(published, backMs + 100, 0);
    expect(lease.share).toBe(early);
    const report = told(lease, 50, backMs + 200);
    expect(report.wantsWord).toBe(backMs === 20_000);
    const next = tickAt(estimate, new Map([['alone', report]]), backMs + 300);
    for (const afterMs of [400, 2_400]) lease.heed(next, backMs + afterMs, 0);
    return [early, lease.share];
  });
  expect(shares).toEqual([
    [8, 8],
    [4, 8],
  ]);
});

test('what a pod lost by a word that it never heard is not its own, though the next one gives it that again', () => {
  const [alder, birch] = [podOf('alder'), podOf('birch')];
  const estimate = new FleetEstimate(rule);
  const tick = (nowMs: number, pinned: number) => {
    const reports = [alder, birch].map(({ key, lease }) => [key, told(lease, 50, nowMs)] as const);
    return estimate.tick(new Map(reports), { nowMs, beatMs: BEAT_MS, chance: 0.5, pinned });
  };
  const first = [10_000, 12_000, 14_100].map((nowMs) => {
    const word = tick(nowMs, 8);
    for (const { lease } of [alder, birch]) lease.heed(word, nowMs, 0);
    return birch.lease.share;
  });
  expect(first).toEqual([0, 0, 4]);
  tick(15_000, 4);
  // Others may have the rest of the four until all have heard of this.
  const again = tick(16_000, 8);
  birch.lease.heed(again, 16_000, 0);
  expect(birch.lease.share).toBe(2);
  birch.lease.heed(again, 19_000, 0);
  expect(birch.lease.share).toBe(4);
});

test('a pod that was given away meanwhile waits until others have heard that it is back', () => {
  const [alder, birch] = [podOf('alder'), podOf('birch')];
  const estimate = new FleetEstimate(rule);
  const reports = new Map([alder, birch].map(({ key, lease }) => [key, told(lease, 50, 9_900)]));
  const both = tickAt(estimate, reports, 10_000);
  for (const nowMs of [10_000, 12_000, 14_100]) alder.lease.heed(both, nowMs, 0);
  expect(alder.lease.share).toBe(4);
  // It is not heard, and taken for dead; its report is read when it is back.
  reports.delete('alder');
  reports.set('birch', told(birch.lease, 50, 20_000));
  const without = tickAt(estimate, reports, 20_100);
  alder.lease.heed(without, 30_000, 0);
  expect(alder.lease.share).toBe(2);
  const back = told(alder.lease, 50, 30_000);
  expect(back.wantsWord).toBe(true);
  reports.set('alder', back);
  reports.set('birch', told(birch.lease, 50, 30_000));
  const again = tickAt(estimate, reports, 30_100);
  alder.lease.heed(again, 30_200, 0);
  expect(alder.lease.share).toBe(2);
  alder.lease.heed(again, 33_000, 0);
  expect(alder.lease.share).toBe(2);
  alder.lease.heed(again, 34_200, 0);
  expect(alder.lease.share).toBe(4);
});

test('many pods that hear nothing more keep half of the cap between them', () => {
  const pods = Array.from({ length: 4 }, (_, index) => podOf(`pod-${index}`));
  const estimate = new FleetEstimate(rule, undefined);
  const reports = new Map(pods.map(({ key, lease }) => [key, told(lease, 50, 9_900)]));
  const published = tickAt(estimate, reports, 10_000);
  const shared = () => pods.reduce((all, { lease }) => all + lease.share, 0);
  for (const nowMs of [10_000, 12_000, 14_000]) {
    for (const { lease } of pods) lease.heed(published, nowMs, 0);
  }
  expect(shared()).toBe(8);
  for (let nowMs = 14_000; nowMs < 60_000; nowMs += 500) {
    for (const { lease } of pods) lease.turn(nowMs);
  }
  expect(shared()).toBe(4);
});

test('a pod that was not counted takes nothing of what is held ready for the others', () => {
  const [old, young] = [podOf('old'), podOf('young')];
  const estimate = new FleetEstimate(rule);
  const reports = new Map([['old', told(old.lease, 1, 10_000)]]);
  const published = tickAt(estimate, reports, 10_100);
  young.lease.begin({ share: 0.1, whole: 1 }, 10_050);
  told(young.lease, 1, 10_150);
  young.lease.heed(published, 10_200, 0);
  young.lease.turn(13_000);
  expect(young.lease.share).toBe(0.1);
});

test('of the share of a pod that died others have half when its lease ends, and all when it is known', () => {
  const estimate = new FleetEstimate(rule);
  const [alder, birch] = [podOf('alder'), podOf('birch')];
  const reports = new Map([
    ['alder', told(alder.lease, 50, 10_000)],
    ['birch', told(birch.lease, 50, 10_000)],
  ]);
  const levelAt = (nowMs: number) => {
    reports.set('birch', told(birch.lease, 50, nowMs));
    return tickAt(estimate, reports, nowMs).division.level;
  };
  expect(levelAt(12_000)).toBe(4);
  expect(levelAt(15_900)).toBe(4);
  expect(levelAt(16_100)).toBe(6);
  expect(levelAt(60_000)).toBe(6);
  reports.delete('alder');
  expect(levelAt(62_000)).toBe(8);
});

test('a pod that is off the table before its lease is over is counted until then', () => {
  const estimate = new FleetEstimate(rule);
  const [alder, birch] = [podOf('alder'), podOf('birch')];
  // It said that its heartbeats take long; others took it for dead before that was over.
  const slow = { ...told(alder.lease, 50, 10_000), beatMs: 5 * BEAT_MS };
  const levelAt = (nowMs: number, gone: readonly (readonly [string, PodReport])[]) => {
    const reports = new Map([...gone, ['birch', told(birch.lease, 50, nowMs)]]);
    return tickAt(estimate, reports, nowMs).division.level;
  };
  expect(levelAt(12_000, [['alder', slow]])).toBe(4);
  expect(levelAt(20_000, [])).toBe(4);
  expect(levelAt(39_900, [])).toBe(4);
  expect(levelAt(40_000, [])).toBe(8);
});

test('what moved is waited for from when it was there to be read', () => {
  const estimate = new FleetEstimate(rule);
  const [alder, birch] = [podOf('alder'), podOf('birch')];
  const tick = (nowMs: number, pods: readonly ReturnType<typeof podOf>[]) => {
    const reports = pods.map(({ key, lease }) => [key, told(lease, 50, nowMs)] as const);
    return tickAt(estimate, new Map(reports), nowMs);
  };
  tick(10_000, [alder]);
  estimate.written(10_100);
  expect(tick(20_000, [alder, birch]).growsAtMs).toBe(20_000 + 2 * BEAT_MS);
  estimate.written(23_000);
  expect(tick(23_500, [alder, birch]).growsAtMs).toBe(23_000 + 2 * BEAT_MS);
});

test('a permit stays with a pod the longer the fewer there are, and gets around all the same', () => {
  const estimate = new FleetEstimate(policyOf('api', { limits: { inFlight: 4 } }));
  const pods = ['alder', 'birch', 'cedar'].map(podOf);
  const holders: string[] = [];
  for (let nowMs = 10_000; nowMs < 10_000 + 40 * BEAT_MS; nowMs += BEAT_MS) {
    const reports = new Map(pods.map(({ key, lease }) => [key, told(lease, 20, nowMs)]));
    holders.push(tickAt(estimate, reports, nowMs).division.arc!.from);
  }
  const moves = holders.filter((key, at) => at > 0 && key !== holders[at - 1]).length;
  expect(moves).toBeLessThanOrEqual(40 / 5);
  expect(new Set(holders).size).toBe(3);
});

test('a small step does not hide that much less is let in', () => {
  const estimator = new Estimator(rule, { cap: 50, good: 50, latencyMs: 500 });
  const tempo = { tickMs: 2_000, delayMs: 2_000 };
  let nowMs = 2_000;
  // All goes well until a little more is tried.
  while (estimator.cap === 50) {
    estimator.tick(sightAt(nowMs, 100, 0), nowMs, tempo);
    nowMs += 2_000;
  }
  expect(estimator.cap).toBeLessThan(54);
  expect(estimator.tick(sightAt(nowMs, 80, 30), nowMs, tempo)).toBe('cut');
  expect(estimator.cap).toBeLessThan(30);
});

test('nothing changes pods while a limit grows: else all would have to wait for that', () => {
  const keys = ['alder', 'birch', 'cedar', 'dogwood'];
  const reports = (nowMs: number, cap: number) => {
    const ended = { throttled: 0, timedOut: 0, failed: 0, ok: 0, latencyMsSum: 0 };
    const second = { ...ended, sent: Math.ceil(cap / 2) };
    const until = Math.floor(nowMs / 1_000);
    const seconds = [until - 4, until - 3, until - 2, until - 1].map((at) => ({ ...second, at }));
    const report = {
      ...{ atMs: nowMs, mark: nowMs, beatMs: 2_000, seconds, latencies: [], answers: 60 },
      ...{ latencyMsSum: 30_000, inFlight: 15, waiting: 900, demand: 900 },
    };
    return new Map<string, PodReport>(keys.map((key) => [key, report]));
  };
  const learned = { cap: 50, good: 50, latencyMs: 500 };
  const former = { learned } as Partial<Published> as Published;
  const division = { level: 12, spare: 0, isPlenty: false, arc: undefined };
  const estimate = new FleetEstimate(rule, { ...former, epoch: 1, madeMs: 0, division });
  let [cap, grown] = [50, 0];
  for (let nowMs = 2_000; nowMs < 120_000; nowMs += 2_000) {
    const word = estimate.tick(reports(nowMs, cap), { nowMs, beatMs: 2_000, chance: 0.5 });
    // What moved a heartbeat ago is heard of in another one; whoever begins to lead knows nothing of that.
    if (nowMs > 2_000 && word.learned.cap > cap) {
      expect(word.growsAtMs - nowMs).toBeLessThanOrEqual(2_000);
      grown++;
    }
    cap = word.learned.cap;
  }
  expect(grown).toBeGreaterThan(2);
});
