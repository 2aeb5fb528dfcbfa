/**
 * Rates that were declared, divided among pods. They go by what each wants of them and not by permits: what
 * is held ready of permits costs nobody anything, but a part of a rate that nobody uses is lost. A pod that
 * has calls to make wants what it could use; one that has none a little, to begin with. Pure.
 */
import type { DeclaredRates } from '../permits/declared-rates.ts';
import type { PermitPool } from '../permits/permit-pool.ts';
import { type Division, divide, shareOf } from './shares.ts';

/** Of a whole rate. */
export const PARTS = 100_000;
/** Pods that want nothing have this part of a rate between them. */
const IDLE_SHARE = 0.02;
/** Whoever waits for nothing has room for so much more than it has called lately. */
const USED_ROOM = 1.25;
/** So long a call is thought to last of which none has come back. */
const LATENCY_MS_GUESS = 1_000;

export interface Wanting {
  readonly waiting: number;
  /** How many calls it has sent lately, and in how many seconds. */
  readonly sent: number;
  readonly seconds: number;
  /** As far as it has heard; undefined before that. */
  readonly podCount: number | undefined;
  /** So much of the whole rate would soon pay what its calls have cost beyond what they said. */
  readonly owed?: number;
}

type Pool = Pick<PermitPool, 'inFlight' | 'latencies'> & {
  readonly declared: Pick<DeclaredRates, 'allPerSecond'>;
};

/** How many parts of the rate a pod wants; none where nothing was declared there. */
export function wantedParts(pool: Pool, wanting: Wanting): number {
  const { waiting, sent, seconds, podCount, owed = 0 } = wanting;
  const { declared, inFlight, latencies } = pool;
  const { allPerSecond } = declared;
  if (!Number.isFinite(allPerSecond)) return 0;
  const latencyS = Math.max(1, latencies.quantile(0.5) ?? LATENCY_MS_GUESS) / 1_000;
  const usable = waiting > 0 ? (inFlight + waiting) / latencyS : 0;
  const wanted = Math.max(owed, Math.max(usable, (USED_ROOM * sent) / seconds) / allPerSecond);
  const least = podCount === undefined ? 0 : IDLE_SHARE / podCount;
  return Math.max(1, Math.ceil(PARTS * Math.min(1, Math.max(least, wanted))));
}

/** Who asks for a portion, and told of `parts`; a version that does not know of them tells of none. */
export interface RateAsking {
  readonly key: string;
  readonly demand: number;
  readonly parts?: number | undefined;
}

/**
 * As permits are: everybody has what they want up to a level, and the rest is for all. `share` of the rate is
 * for these pods. Nothing, where one of them does not know of it: then all go by permits.
 */
export function divideRates(pods: readonly RateAsking[], share: number): Division['rates'] {
  let isDeclared = false;
  for (const { parts } of pods) {
    if (parts === undefined) return undefined;
    isDeclared ||= parts > 0;
  }
  if (!isDeclared) return undefined;
  const asking = pods.map(({ key, parts = 0 }) => ({ key, demand: parts }));
  const { level, spare } = divide(PARTS * share, asking);
  return { level, spare };
}

/** A pod's portion of a rate, by a division of `whole` permits. */
export function portionOf(division: Division, whole: number, asking: RateAsking): number {
  const { rates } = division;
  if (!rates) return shareOf(division, asking) / whole;
  return (Math.min(asking.parts ?? 0, rates.level) + rates.spare) / PARTS;
}

/** Notes what everybody has by this division: whether somebody has less than before. */
export function havePortionsFallen(
  pods: readonly (RateAsking & { portion: number; readonly formerPortion: number })[],
  division: Division,
  whole: number,
): boolean {
  let haveFallen = false;
  for (const pod of pods) {
    pod.portion = portionOf(division, whole, pod);
    haveFallen ||= pod.portion < pod.formerPortion;
  }
  return haveFallen;
}

/** Whole permits are divided: of a part of one that is left over nobody has anything. */
export function wholeOf(cap: number): number {
  return Math.max(1, Math.floor(cap + 1e-9));
}
