/** What is said of an API in a word or two, wherever it is shown. */
import type { Throttle } from '../../services/fleet-types.ts';

export type Mood = 'fine' | 'busy' | 'refused' | 'alone' | 'unknown';

/** What matters most counts. */
export function moodOf({ breaker, pausedMs, now, cap }: Throttle): Mood {
  if (cap === undefined || !now) return 'unknown';
  if (breaker !== 'closed' || pausedMs > 0) return 'alone';
  if (now.throttled > 0) return 'refused';
  return now.waiting > 0 ? 'busy' : 'fine';
}

export const MOOD_LABEL: Record<Mood, string> = {
  fine: 'Fine',
  busy: 'At its limit',
  refused: 'Refuses calls',
  alone: 'Left alone',
  unknown: 'Not known yet',
};

export function showLimit(limit: number | undefined): string {
  return limit === undefined ? '–' : `${Math.round(limit * 10) / 10}`;
}

export const pathOf = (api: string): string => `/throttles/${encodeURIComponent(api)}`;

/** As a shell reads it. */
export function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
