/** A store whose answers come late: pods are counted all the same, and have no more than there is. */
import { expect, test } from 'vitest';
import { FleetEstimate, Lease, type PodReport, type Published } from '../../src/throttle/index.ts';
import { HybridLaw } from '../../src/throttle/laws/index.ts';
import { PermitPool } from '../../src/throttle/permit-pool.ts';
import { policyOf } from '../../src/throttle/policy.ts';

const BEAT_MS = 3_000;
const CAP = 24;
const POD_COUNT = 8;
const TICK_MS = 250;
const policy = policyOf('llm', { limits: { inFlight: CAP }, probe: 'off' });

interface Pod {
  readonly key: string;
  readonly lease: Lease;
  nextMs: number;
  /** Sent, and not answered yet. */
  out: { readonly sentMs: number; readonly report: PodReport } | undefined;
}

/** Shares of all pods after so long, and the most that they were together, with ways of `roundMs`. */
function shared(roundMs: (nowMs: number) => number, untilMs: number) {
  const table = new Map<string, { readonly report: PodReport; readonly writtenMs: number }>();
  const estimate = new FleetEstimate(policy);
  let row: { readonly word: Published; readonly writtenMs: number } | undefined;
  let coming: typeof row;
  const pods = Array.from({ length: POD_COUNT }, (_, index): Pod => {
    const law = new HybridLaw(0);
    const key = `pod-${index}`;
    const lease = new Lease(key, law, new PermitPool(policy, law), BEAT_MS);
    return { key, lease, nextMs: 350 * index, out: undefined };
  });
  let most = 0;
  const beat = (pod: Pod, nowMs: number, wayMs: number): void => {
    const { lease, out } = pod;
    if (!out && nowMs >= pod.nextMs) {
      pod.out = { sentMs: nowMs, report: lease.report(40, nowMs) };
      pod.nextMs = nowMs + BEAT_MS;
    } else if (out && nowMs === Math.ceil((out.sentMs + wayMs / 2) / TICK_MS) * TICK_MS) {
      table.set(pod.key, { report: out.report, writtenMs: nowMs });
    }
    if (!out || nowMs < out.sentMs + wayMs) return;
    table.set(pod.key, table.get(pod.key) ?? { report: out.report, writtenMs: nowMs });
    pod.out = undefined;
    lease.told(out.sentMs, out.sentMs, nowMs);
    // What stood in the row half a way ago, by the time that it came.
    if (row) lease.heed(timed(row.word, row.writtenMs), nowMs, 0.5, out.sentMs);
    if (pod.key !== 'pod-0' || coming) return;
    const reports = new Map(
      [...table].map(([key, { report, writtenMs }]) => {
        return [key, { ...report, atMs: writtenMs }] as const;
      }),
    );
    const readMs = out.sentMs - 1_000;
    const word = estimate.tick(reports, { nowMs, beatMs: BEAT_MS, chance: 0.5, readMs });
    coming = { word, writtenMs: nowMs + wayMs / 2 };
  };
  for (let nowMs = 0; nowMs < untilMs; nowMs += TICK_MS) {
    if (coming && nowMs >= coming.writtenMs) [row, coming] = [coming, undefined];
    for (const pod of pods) {
      beat(pod, nowMs, roundMs(nowMs));
      pod.lease.turn(nowMs);
    }
    most = Math.max(most, sumOf(pods));
  }
  return { shares: pods.map(({ lease }) => lease.share), most };
}

/** No clock means anything elsewhere: times go by when it was written. */
function timed(word: Published, writtenMs: number): Published {
  const lateMs = writtenMs - word.madeMs;
  const { readMs, growsAtMs } = word;
  return { ...word, madeMs: writtenMs, readMs: readMs + lateMs, growsAtMs: growsAtMs + lateMs };
}

function sumOf(pods: readonly Pod[]): number {
  return pods.reduce((all, { lease }) => all + lease.share, 0);
}

for (const roundMs of [100, 2_000, 4_000, 6_000, 9_000]) {
  test(`pods share the whole limit where a heartbeat takes ${roundMs} ms`, () => {
    const { shares, most } = shared(() => roundMs, 240_000);
    expect(shares.reduce((all, share) => all + share, 0)).toBe(CAP);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(CAP);
  });
}

test('a store that is slow for a while leaves nobody with nothing, and nobody with too much', () => {
  const isSlow = (nowMs: number) => nowMs > 60_000 && nowMs < 150_000;
  const { shares, most } = shared((nowMs) => (isSlow(nowMs) ? 7_000 : 200), 240_000);
  expect(shares).toEqual(shares.map(() => CAP / POD_COUNT));
  // Half of an equal share is what a pod keeps that hears nothing.
  expect(most).toBeLessThanOrEqual(CAP + CAP / 2);
});
