/** Due times in whole milliseconds, as the tables hold them. */
import { boundedSpan, boundedTime } from '../bounds.ts';
import type { Due } from '../tasks.ts';

export function later(now: number, afterMs: number): number {
  return boundedTime(now + Math.max(0, Math.ceil(boundedSpan(afterMs))));
}

export function instantOf(due: Due, now: number): number {
  return 'at' in due ? boundedTime(Math.ceil(due.at)) : later(now, due.afterMs);
}
