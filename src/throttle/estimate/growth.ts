/**
 * How much more is tried than what went well, and when. Near what was too much a while ago it goes in a
 * small step, and stays there until a burst that was saved up cannot hide it any more; where that is behind,
 * in large ones. Pure.
 */
import type { Before } from './before-falls.ts';
import type { Bad } from './learned.ts';

export interface Footing {
  readonly cap: number;
  /** The lowest cap that was too much. */
  readonly bad: Bad | undefined;
  /** What was too much at first contact: up to there it goes in small steps. */
  readonly tooMuch: number;
  /** Large steps that went well, one after the other. */
  readonly growths: number;
  /** Whether the last step was a large one. */
  readonly isLarge: boolean;
  /** Refused calls use up the quota as well: a step too far costs more than a small one gains. */
  readonly chargesRefusals: boolean;
  /** How long a call takes. */
  readonly latencyMs: number;
  /** What went well before it took much less. */
  readonly before?: Before | undefined;
  /** For so long at least what was too much is left alone, since refusals stop everybody. */
  readonly sparedMs?: number | undefined;
}

export interface Step {
  readonly decision: 'bisect' | 'probe';
  readonly cap: number;
  /** A large step shows at once whether it was too large. */
  readonly isLarge: boolean;
}

/** Slowly where a limit was near before; where that is behind, faster. */
const SMALL_GROWTH = 1.06;
const LARGE_GROWTH = 1.7;
/** Where it is not known what was too much, as after a restart, that may be near. */
const UNKNOWN_GROWTH = 1.2;
const NEAR_GROWTH = 1.03;
const LARGE_FROM = 1.05;
const BISECTED_FROM = 1.1;
const BAD_KEPT_MS = 25_000;
/** However few there are, one more is tried after so long. */
const COSTLY_KEPT_MS = 600_000;
/** What took much more before is tried again after so many times as long, at the latest. */
const PATIENCE_MAX = 4;
/** An API that is shut again and again is left alone for 16 times as long, at the most. */
const SHUT_TRIES_MAX = 4;
const REOPENED_PART = 0.7;
/** A burst that was saved up hides a small excess for about so long. */
const HIDDEN_MS = 13_000;

/** How long it has to have gone well before more is tried. */
export function cleanMsOf({ cap, bad, isLarge, before }: Footing, tickMs: number): number {
  if (isLarge) return tickMs;
  if (before?.isShut) return tickMs * 2 ** Math.min(before.tries, SHUT_TRIES_MAX);
  if (before) return 3 * tickMs;
  const isAtBad = bad !== undefined && !isBelow(cap, bad, 0.99) && cap <= 1.05 * bad.cap;
  // Whoever hears soon may risk more: an excess that comes to light late is short all the same.
  return isAtBad ? Math.max(3 * tickMs, Math.min(HIDDEN_MS, 7 * tickMs)) : 3 * tickMs;
}

/** The next step, or nothing as long as what was too much is fresh. */
export function nextStep(footing: Footing, nowMs: number, tickMs: number): Step | undefined {
  const { cap, bad, chargesRefusals, before } = footing;
  if (before?.isShut) {
    // A part of it first: whoever lets some in may not let all in.
    const most = REOPENED_PART * before.cap;
    return { decision: 'probe', cap: cap < most ? most : before.cap, isLarge: true };
  }
  if (bad && isFresh(footing, nowMs, tickMs)) {
    if (bad.cap / cap <= BISECTED_FROM) return undefined;
    return { decision: 'bisect', cap: Math.sqrt(cap * bad.cap * 0.97), isLarge: false };
  }
  if (bad && before) return stepBack(footing, bad, before);
  const isSmall = chargesRefusals || cap < footing.tooMuch;
  const large = bad ? LARGE_GROWTH : UNKNOWN_GROWTH;
  const most = cap * (isSmall || footing.growths === 0 ? SMALL_GROWTH : large);
  const isNear = bad !== undefined && isBelow(cap, bad, chargesRefusals ? 1 : 0.99);
  const wanted = isNear ? Math.min(most, Math.max(bad.cap, NEAR_GROWTH * cap)) : most;
  const next = Math.max(wanted, Math.floor(cap) + 1);
  return { decision: 'probe', cap: next, isLarge: !isNear && wanted > LARGE_FROM * cap };
}

/** On the way to what was before: first past what was too much meanwhile, then in large steps. */
function stepBack({ cap, growths }: Footing, bad: Bad, before: Before): Step {
  const wanted = growths > 0 ? cap * LARGE_GROWTH : Math.max(cap, bad.cap) * UNKNOWN_GROWTH;
  const next = Math.min(wanted, Math.max(before.cap, cap * SMALL_GROWTH));
  return {
    decision: 'probe',
    cap: Math.max(next, Math.floor(cap) + 1),
    isLarge: true,
  };
}

/** Whether it is not long ago that it was too much. */
export function isFresh(footing: Footing, nowMs: number, tickMs: number): boolean {
  const keptMs = badKeptMs(footing, tickMs) * (footing.chargesRefusals ? 1.5 : 1);
  return footing.bad !== undefined && nowMs - footing.bad.atMs < keptMs;
}

/** The slower word gets around, the longer an overshoot lasts: then it is risked less often. */
export function badKeptMs(footing: Footing, tickMs: number): number {
  const { cap, latencyMs, chargesRefusals, before, sparedMs = 0 } = footing;
  // One more of few is a large part of them: the more it costs to try, the more seldom it is.
  const cost = chargesRefusals ? 1 : Math.max(1, 1 / Math.max(1, cap) / (SMALL_GROWTH - 1));
  const patience = before ? Math.min(cost, PATIENCE_MAX, 2 ** before.tries) : cost;
  const roundsMs = Math.max(BAD_KEPT_MS, 12 * tickMs, 12 * latencyMs);
  return Math.max(sparedMs, roundsMs, Math.min(COSTLY_KEPT_MS, patience * roundsMs));
}

function isBelow(cap: number, bad: Bad, share: number): boolean {
  return cap < share * bad.cap;
}
