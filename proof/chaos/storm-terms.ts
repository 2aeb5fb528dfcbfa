/** What an end is, and how far what people saw and what the witness saw may lie apart. */
import type { Change, TaskFile } from './witness.ts';

/** Whole milliseconds on one side, parts of them on the other. */
export const ROUNDING_MS = 1;
/** A change is seen by others when it is committed, which may be so much later. */
export const COMMIT_MS_MAX = 2_000;
/** A statement whose sender has given up may arrive so much later. */
export const LATE_MS = 30_000;

/** The state of the segment in which a redrive keeps how an earlier generation ended. */
const KEPT_OUTCOME = 'outcome';
const ENDED = ['completed', 'failed', 'cancelled'];

export function isEnded(status: string): boolean {
  return ENDED.includes(status);
}

/** Its records told another end already: nobody had anything to add, and the next owner said so. */
export function wasToldBefore({ generation, wasEpoch, at }: Change, file: TaskFile): boolean {
  const own = file.segments.filter(
    (segment) => segment.generation === generation && segment.state !== KEPT_OUTCOME,
  );
  const hasEnded = file.changes.some(
    (change) => change.at > at && change.generation === generation && isEnded(change.status),
  );
  return hasEnded && own.length > 0 && own.every(({ epoch }) => epoch <= wasEpoch);
}
