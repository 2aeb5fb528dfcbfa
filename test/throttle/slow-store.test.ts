/** A store whose answers come late: pods are counted all the same, and have no more than there is. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FleetEstimate, Lease, type PodReport, type Published } from '../../src/throttle/index.ts';
import { HybridLaw } from '../../src/throttle/laws/index.ts';
import { PermitPool } from '../../src/throttle/permits/permit-pool.ts';
import { policyOf } from '../../src/throttle/policy.ts';
import { seededRandom } from '../support/seeded-random.ts';

const BEAT_MS = 3_000;
const CAP = 24;
const POD_COUNT = 8;
const TICK_MS = 250;
const policy = policyOf('llm', { limits: { inFlight: CAP } });

interface Word {
  readonly word: Published;
  readonly writtenMs: number;
}

interface Pod {
  readonly key: string;
  readonly lease: Lease;
  nextMs: number;
  /** Sent, and not answered yet. */
  out: Way | undefined;
}

interface Way {
  readonly sentMs: number;
  readonly report: PodReport;
  readonly thereMs: number;
  readonly backMs: number;
  /** What stood in the tables when it was there. */
  read?: { readonly row: Word | undefined; readonly told: Told };
}

/** Reports, by pod, and how old they were. */
type Told = readonly (readonly [string, { readonly report: PodReport; readonly ageMs: number }])[];

interface Ways {
  /** How long one way takes that begins now. */
  readonly wayMs: (nowMs: number) => number;
  /** How many wait. */
  readonly waiting?: (nowMs: number) => number;
  /** When a pod first beats. */
  readonly joinMs?: (index: number) => number;
}

/** Shares of all pods after so long, and the most that they were together. */
function shared(
  { wayMs, waiting = () => 40, joinMs = (index) => 350 * index }: Ways,
  untilMs: number,
) {
  const table = new Map<string, { readonly report: PodReport; readonly writtenMs: number }>();
  const estimate = new FleetEstimate(policy);
  let row: Word | undefined;
  let coming: Word | undefined;
  const pods = Array.from({ length: POD_COUNT }, (_, index): Pod => {
    const law = new HybridLaw(0);
    const key = `pod-${index}`;
    const lease = new Lease(key, law, new PermitPool(policy, law), BEAT_MS);
    return { key, lease, nextMs: joinMs(index), out: undefined };
  });
  const lead = (told: Told, nowMs: number): void => {
    if (coming) return;
    const reports = new Map(
      told.map(([key, { report, ageMs }]) => [key, { ...report, atMs: nowMs - ageMs }]),
    );
    const word = estimate.tick(reports, { nowMs, beatMs: BEAT_MS, chance: 0.5 });
    coming = { word, writtenMs: nowMs + wayMs(nowMs) };
  };
  const beat = (pod: Pod, nowMs: number): void => {
    const { lease, out } = pod;
    if (!out) {
      if (nowMs < pod.nextMs) return;
      const report = lease.report(waiting(nowMs), nowMs);
      pod.out = {
        sentMs: nowMs,
        report,
        thereMs: nowMs + wayMs(nowMs),
        backMs: nowMs + 2 * wayMs(nowMs),
      };
      pod.nextMs = nowMs + BEAT_MS;
      return;
    }
    if (!out.read && nowMs >= out.thereMs) {
      table.set(pod.key, { report: out.report, writtenMs: nowMs });
      const told = [...table].map(([key, { report, writtenMs }]) => {
        return [key, { report, ageMs: nowMs - writtenMs }] as const;
      });
      out.read = { row, told };
    }
    if (!out.read || nowMs < out.backMs) return;
    pod.out = undefined;
    lease.told(out.sentMs, out.sentMs, nowMs);
    if (out.read.row) lease.heed(timed(out.read.row), nowMs, 0.5, out.sentMs);
    if (pod.key === 'pod-0') lead(out.read.told, nowMs);
  };
  let [most, mostInForce] = [0, 0];
  for (let nowMs = 0; nowMs < untilMs; nowMs += TICK_MS) {
    if (coming && nowMs >= coming.writtenMs) {
      [row, coming] = [coming, undefined];
      estimate.written(nowMs);
    }
    for (const pod of pods) {
      beat(pod, nowMs);
      pod.lease.turn(nowMs);
    }
    most = Math.max(most, sumOf(pods));
    mostInForce = Math.max(mostInForce, sumOf(pods.filter(({ lease }) => lease.isInForce)));
  }
  return { shares: pods.map(({ lease }) => lease.share), most, mostInForce };
}

/** No clock means anything elsewhere: times go by when it was written. */
function timed({ word, writtenMs }: Word): Published {
  return { ...word, madeMs: writtenMs, growsAtMs: word.growsAtMs + writtenMs - word.madeMs };
}

function sumOf(pods: readonly Pod[]): number {
  return pods.reduce((all, { lease }) => all + lease.share, 0);
}

for (const roundMs of [100, 2_000, 4_000, 6_000, 9_000]) {
  test(`pods share the whole limit where a heartbeat takes ${roundMs} ms`, () => {
    const { shares, most } = shared({ wayMs: () => roundMs / 2 }, 240_000);
    expect(shares.reduce((all, share) => all + share, 0)).toBe(CAP);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(CAP);
  });
}

test('a store that is slow for a while leaves nobody with nothing, and nobody with too much', () => {
  const isSlow = (nowMs: number) => nowMs > 60_000 && nowMs < 150_000;
  const wayMs = (nowMs: number) => (isSlow(nowMs) ? 3_500 : 100);
  const { shares, most } = shared({ wayMs }, 240_000);
  expect(shares).toEqual(shares.map(() => CAP / POD_COUNT));
  expect(most).toBeLessThanOrEqual(CAP);
});

test('whoever wants what, joins when, and however long each way takes: nobody is given what another has', () => {
  const scene = {
    seed: fc.nat(1_000_000),
    wayMs: fc.constantFrom(200, 1_500, 4_000, 9_000, 20_000),
  };
  fc.assert(
    fc.property(fc.record(scene), ({ seed, wayMs }) => {
      const random = seededRandom(seed);
      const { mostInForce } = shared(
        {
          wayMs: () => random.fraction() ** 2 * wayMs,
          waiting: () => Math.floor(random.fraction() ** 3 * 60),
          joinMs: (index) => (index < 2 ? 0 : random.fraction() * 90_000),
        },
        150_000,
      );
      expect(mostInForce).toBeLessThanOrEqual(CAP);
    }),
    {
      numRuns: 200,
      // In each a pod that was left out took a word that was made before it came back.
      examples: [[{ seed: 347, wayMs: 4_000 }], [{ seed: 556_650, wayMs: 4_000 }]],
    },
  );
});
