/** What an end is, and how far what people saw and what the witness saw may lie apart. */

/** Whole milliseconds on one side, parts of them on the other. */
export const ROUNDING_MS = 1;
/** A change is seen by others when it is committed, which may be so much later. */
export const COMMIT_MS_MAX = 2_000;
/** A statement whose sender has given up may arrive so much later. */
export const LATE_MS = 30_000;

const ENDED = ['completed', 'failed', 'cancelled'];

export function isEnded(status: string): boolean {
  return ENDED.includes(status);
}
