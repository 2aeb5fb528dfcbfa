/** What is to be thought of pods between two of their reports, and where none comes any more. Pure. */
import { type PodReport, SHARE_MIN } from './words.ts';

/** Refusals take a moment to come back. */
const ANSWER_MS = 300;

/** What pods have that were not heard lately and are not known to be gone: half of an equal share each. */
export function keptBy(lateCount: number, podCount: number, cap: number): number {
  const each = Math.max(SHARE_MIN, cap / Math.max(1, podCount) / 2);
  return Math.min(lateCount * each, cap / 2);
}

/** The second that every pod has told of by then, with whatever was refused in it. */
export function secondAt(ms: number, beatMs: number): number {
  return Math.floor((ms - beatMs - ANSWER_MS) / 1_000);
}

export function pausedOf({ pausedMs = 0, atMs }: PodReport, nowMs: number): number {
  return pausedMs - (nowMs - atMs);
}
