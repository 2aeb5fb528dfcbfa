/** What is said of an API in a word or two, wherever it is shown. */
import { showCount } from '../../format/words.ts';
import type { Throttle } from '../../services/fleet-types.ts';

export type Mood = 'fine' | 'busy' | 'refused' | 'alone' | 'idle' | 'unknown';

/** What matters most counts. */
export function moodOf({ breaker, pausedMs, now, cap }: Throttle): Mood {
  if (cap === undefined) return 'unknown';
  // What was out, or refused, was so in pods that are gone.
  if (!now) return 'idle';
  if (breaker !== 'closed' || pausedMs > 0) return 'alone';
  if (now.throttled > 0) return 'refused';
  return now.waiting > 0 ? 'busy' : 'fine';
}

const MOOD_LABEL: Record<Mood, string> = {
  fine: 'Fine',
  busy: 'At its limit',
  refused: 'Refuses calls',
  alone: 'Left alone',
  idle: 'Idle',
  unknown: 'Not known yet',
};

/** Of a limit below one there is one permit, used as seldom as that. */
export function permitsOf(limit: number): number {
  return limit > 0 ? Math.max(1, Math.floor(limit)) : 0;
}

/** Whoever waits while permits are left waits for a rate, or for its pod's share. */
export function moodLabel(throttle: Throttle): string {
  const mood = moodOf(throttle);
  const isAll = (throttle.now?.inFlight ?? 0) >= permitsOf(throttle.cap ?? 1);
  return mood === 'busy' && !isAll ? 'Calls wait' : MOOD_LABEL[mood];
}

const WORST_FIRST: readonly Mood[] = ['alone', 'refused', 'busy', 'unknown', 'fine', 'idle'];

/** Those first that somebody has to look at; of the same kind, by name. */
export function worstFirst(throttles: readonly Throttle[]): Throttle[] {
  const rank = (throttle: Throttle) => {
    const isWaitedFor = (throttle.parked?.count ?? 0) > 0;
    const mood = moodOf(throttle);
    return WORST_FIRST.indexOf(isWaitedFor && mood === 'fine' ? 'busy' : mood);
  };
  return throttles.toSorted((one, other) => rank(one) - rank(other));
}

export function showParked({ parked }: Throttle): string {
  return parked ? `${showCount(parked.count)}${parked.isExact ? '' : '+'}` : '–';
}

export function showLimit(limit: number | undefined): string {
  return limit === undefined ? '–' : `${Math.round(limit * 10) / 10}`;
}

/** Where the limit comes from. */
export function showBasis(throttle: Throttle): string {
  if (throttle.isAdaptive === undefined) return '–';
  if (throttle.isAdaptive) return 'adaptive';
  return showDeclared(throttle) === undefined ? 'nothing declared' : 'what is declared';
}

/** Nothing, where nobody has declared anything. */
export function showDeclared({ ceiling, perSecond, costPerMinute }: Throttle): string | undefined {
  const parts = [
    ceiling !== undefined && `${showCount(ceiling)} at once`,
    perSecond !== undefined && `${showCount(perSecond)} a second`,
    costPerMinute !== undefined && `cost of ${showCount(costPerMinute)} a minute`,
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join(', ') : undefined;
}

export const pathOf = (api: string): string => `/throttles/${encodeURIComponent(api)}`;

/** As a shell reads it. */
export function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
