/** Due times in whole milliseconds, as the tables hold them. */
import type { Due } from '../tasks.ts';

/** The last instant that a Date can show: nothing is due later. */
const TIME_MAX = 8.64e15;

export function later(now: number, afterMs: number): number {
  return Math.min(now + Math.max(0, Math.ceil(afterMs)), TIME_MAX);
}

export function instantOf(due: Due, now: number): number {
  return 'at' in due ? Math.min(Math.ceil(due.at), TIME_MAX) : later(now, due.afterMs);
}
