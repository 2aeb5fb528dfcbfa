/** What an API let in while it refused some, which is what it has room for. Pure. */
import type { Second } from './seconds.ts';

export interface Room {
  /** Calls at once that it took, and the most that it may have taken. */
  readonly room: number;
  readonly roomMax: number;
}

interface Means {
  readonly latencyMs: number | undefined;
  readonly tickMs: number;
  readonly inFlight: number;
  /** Refused calls use up the quota as well. */
  readonly chargesRefusals: boolean;
}

/** Each pod has whole permits, and calls take longer at times: with the very number none would be over. */
const RATE_ROOM = 2;
const SATURATED_SHARE = 0.005;
/** Of the room that a refused call would have had, so much is used up where refusals are charged. */
const CHARGED_SHARE = 0.7;

export function roomOf(saturated: readonly Second[], means: Means): Room {
  const { tickMs, inFlight, chargesRefusals } = means;
  const lost = chargesRefusals ? 1 - CHARGED_SHARE : 1;
  const accepted = saturated.map(({ sent, throttled }) => sent - lost * throttled);
  const latencyS = (means.latencyMs ?? 1_000) / 1_000;
  const rateMax = Math.max(...accepted);
  const room = ((sum(accepted) / accepted.length + rateMax) / 2) * latencyS;
  const roomMax = rateMax * latencyS;
  if (latencyS * 1_000 <= tickMs) return { room, roomMax };
  // Over a time shorter than a call, starts come in bunches: then what is in flight is what fits.
  const most = Math.max(1, inFlight);
  return { room: Math.min(room, most), roomMax: Math.min(roomMax, most) };
}

/** The most that a declared rate can use. */
export function permitsOfRate(
  perSecondMax: number | undefined,
  latencyMs: number | undefined,
): number | undefined {
  if (perSecondMax === undefined || !latencyMs) return undefined;
  return Math.max(1, (RATE_ROOM * perSecondMax * latencyMs) / 1_000);
}

export function isSaturated({ sent, throttled }: Second): boolean {
  return throttled >= Math.max(1, SATURATED_SHARE * sent);
}

/** One second may be a bad one; several, or most of the calls, are not by chance. */
export function isPlain(saturated: readonly Second[], seconds: readonly Second[]): boolean {
  return refusedShareOf(seconds) >= (saturated.length > 1 ? 0.05 : 0.2);
}

export function refusedShareOf(seconds: readonly Second[]): number {
  return sum(seconds.map((second) => second.throttled)) / sum(seconds.map(({ sent }) => sent));
}

export function sentPerSecond(seconds: readonly Second[]): number {
  return sum(seconds.map(({ sent }) => sent)) / Math.max(1, seconds.length);
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
