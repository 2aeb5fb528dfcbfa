/** The words that some fields are limited to: whoever mistypes one is told, and does not find nothing. */
import { FACTS, type WordField } from './filter.ts';

/** Of tasks, and of runs of one host, which know no claims and tell more of what they are at. */
export const STATUSES = [
  ...(['pending', 'waiting', 'claimed', 'active', 'blocked', 'quarantined'] as const),
  ...(['completed', 'handedOff', 'failed', 'cancelled'] as const),
];

export const OUTCOMES = [
  ...(['completed', 'handedOff', 'exhausted', 'aborted', 'timedOut', 'crashLoop'] as const),
  'cancelled' as const,
];

/** What a waiting task waits for. */
export const WAITS = [
  ...(['time', 'retry', 'sleep', 'signal', 'children', 'run', 'throttle', 'turn'] as const),
  ...(['host', 'version', 'key'] as const),
];

const CLOSED: Partial<Record<WordField, readonly string[]>> = {
  status: STATUSES,
  outcome: OUTCOMES,
  wait: WAITS,
  is: FACTS,
};

/** All words there are of this field; undefined where it may be any. */
export function wordsOf(field: string): readonly string[] | undefined {
  return Object.hasOwn(CLOSED, field) ? CLOSED[field as WordField] : undefined;
}
