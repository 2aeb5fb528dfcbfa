/** Whoever leads changes, or two do at once, on a store that answers late: nobody is given what another has. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodePublished, encodeReport } from '../../src/throttle/fleet/wire.ts';
import { Chief, Lease, type PublishedRow, type Word } from '../../src/throttle/index.ts';
import { HybridLaw } from '../../src/throttle/laws/index.ts';
import { PermitPool } from '../../src/throttle/permits/permit-pool.ts';
import { policyOf } from '../../src/throttle/policy.ts';
import { seededRandom } from '../support/seeded-random.ts';

const BEAT_MS = 3_000;
const CAP = 24;
const POD_COUNT = 6;
const TICK_MS = 250;
const PER_SECOND = 100;
const limits = { inFlight: CAP, perSecond: PER_SECOND };
const policy = policyOf('llm', { limits });

interface Row {
  readonly epoch: number;
  readonly state: string;
  readonly writtenMs: number;
}

interface Way {
  readonly sentMs: number;
  readonly report: unknown;
  readonly thereMs: number;
  readonly backMs: number;
  read?: { readonly rows: PublishedRow[]; readonly reports: { pod: string; ageMs: number }[] };
}

interface Saying {
  readonly words: Word[];
  readonly thereMs: number;
  readonly backMs: number;
  isThere: boolean;
}

interface Pod {
  readonly key: string;
  readonly lease: Lease;
  readonly pool: PermitPool;
  readonly chief: Chief;
  nextMs: number;
  out: Way | undefined;
  saying: Saying | undefined;
  saidMs: number;
}

interface Scene {
  readonly wayMs: () => number;
  readonly waiting: () => number;
  /** Whether this pod takes itself for the one that leads. */
  readonly leads: (index: number, nowMs: number) => boolean;
}

function podOf(index: number): Pod {
  const law = new HybridLaw(0);
  const key = `pod-${index}`;
  const pool = new PermitPool(policy, law);
  const lease = new Lease(key, law, pool, BEAT_MS);
  const chief = new Chief(() => policy);
  const times = { nextMs: 350 * index, saidMs: Number.NEGATIVE_INFINITY };
  return { key, lease, pool, chief, ...times, out: undefined, saying: undefined };
}

/** The most that was in force at once, and what all have in the end. */
function played({ wayMs, waiting, leads }: Scene, untilMs: number) {
  const table = new Map<string, { readonly throttles: unknown; readonly writtenMs: number }>();
  let row: Row | undefined;
  const pods = Array.from({ length: POD_COUNT }, (_, index) => podOf(index));
  const land = (pod: Pod, nowMs: number): void => {
    const { saying } = pod;
    if (!saying) return;
    if (!saying.isThere && nowMs >= saying.thereMs) {
      saying.isThere = true;
      for (const { epoch, state } of saying.words) {
        if ((row?.epoch ?? 0) === epoch) row = { epoch: epoch + 1, state, writtenMs: nowMs };
      }
    }
    if (nowMs < saying.backMs) return;
    pod.saying = undefined;
    pod.saidMs = nowMs;
    pod.chief.written(saying.words, nowMs);
  };
  const beat = (pod: Pod, index: number, nowMs: number): void => {
    const { lease, chief, out } = pod;
    if (!out) {
      if (nowMs < pod.nextMs) return;
      const report = { llm: encodeReport(lease.report(waiting(), nowMs)) };
      const thereMs = nowMs + wayMs();
      pod.out = { sentMs: nowMs, report, thereMs, backMs: thereMs + wayMs() };
      pod.nextMs = nowMs + BEAT_MS;
      return;
    }
    if (!out.read && nowMs >= out.thereMs) {
      table.set(pod.key, { throttles: out.report, writtenMs: nowMs });
      const reports = [...table].map(([key, { throttles, writtenMs }]) => {
        return { pod: key, ageMs: nowMs - writtenMs, throttles };
      });
      const rows = row ? [{ api: 'llm', ...row, ageMs: nowMs - row.writtenMs }] : [];
      out.read = { rows, reports };
    }
    if (!out.read || nowMs < out.backMs) return;
    pod.out = undefined;
    const { rows, reports } = out.read;
    lease.told(out.sentMs, out.sentMs, nowMs);
    const heard = rows[0] && decodePublished(rows[0], nowMs);
    if (heard) lease.heed(heard, nowMs, 0.5, out.sentMs);
    if (!leads(index, nowMs)) return chief.forget();
    if (pod.saying) return;
    const sight = { rows, reports: reports as never, nowMs, beatMs: BEAT_MS, chance: () => 0.5 };
    const words = chief.look({ ...sight, isEarly: out.sentMs < pod.saidMs });
    const thereMs = nowMs + wayMs();
    if (words.length > 0)
      pod.saying = { words, thereMs, backMs: thereMs + wayMs(), isThere: false };
  };
  let [most, mostPerSecond] = [0, 0];
  for (let nowMs = 0; nowMs < untilMs; nowMs += TICK_MS) {
    for (const [index, pod] of pods.entries()) {
      land(pod, nowMs);
      beat(pod, index, nowMs);
      pod.lease.turn(nowMs);
    }
    const inForce = pods.filter(({ lease }) => lease.isInForce);
    most = Math.max(
      most,
      inForce.reduce((all, { lease }) => all + lease.share, 0),
    );
    mostPerSecond = Math.max(
      mostPerSecond,
      inForce.reduce((all, { pool }) => all + pool.callsPerSecond(nowMs), 0),
    );
  }
  return { most, mostPerSecond, shares: pods.map(({ lease }) => lease.share) };
}

test('leaders follow each other, and some overlap, however long each way takes: nobody has what another has', () => {
  const scene = {
    seed: fc.nat(1_000_000),
    wayMs: fc.constantFrom(200, 1_500, 4_000, 9_000),
    termMs: fc.constantFrom(5_000, 20_000, 45_000),
    overlapMs: fc.constantFrom(0, 4_000, 20_000),
  };
  fc.assert(
    fc.property(fc.record(scene), ({ seed, wayMs, termMs, overlapMs }) => {
      const random = seededRandom(seed);
      const isOf = (index: number, atMs: number) =>
        Math.floor(Math.max(0, atMs) / termMs) % POD_COUNT === index;
      const { most, mostPerSecond } = played(
        {
          wayMs: () => random.fraction() ** 2 * wayMs,
          waiting: () => Math.floor(random.fraction() ** 3 * 60),
          leads: (index, nowMs) => isOf(index, nowMs) || isOf(index, nowMs - overlapMs),
        },
        150_000,
      );
      expect(most).toBeLessThanOrEqual(CAP);
      expect(mostPerSecond).toBeLessThanOrEqual(PER_SECOND + 1e-6);
    }),
    // Once two words of one epoch were taken for one.
    {
      numRuns: 100,
      examples: [[{ seed: 680_599, wayMs: 1_500, termMs: 20_000, overlapMs: 20_000 }]],
    },
  );
});

test.each([100, 2_000, 4_500])(
  'all share the whole limit while two lead at once, where a way takes %i ms',
  (wayMs) => {
    const leads = (index: number, nowMs: number) => index < 2 && nowMs < 120_000;
    const scene = { wayMs: () => wayMs, waiting: () => 40 };
    const later = (index: number, nowMs: number) => leads(index, nowMs) || index === 3;
    const { shares, most, mostPerSecond } = played({ ...scene, leads: later }, 240_000);
    expect(shares).toEqual(shares.map(() => CAP / POD_COUNT));
    expect(mostPerSecond).toBeGreaterThan(0.99 * PER_SECOND);
    expect(most).toBeLessThanOrEqual(CAP);
  },
);
