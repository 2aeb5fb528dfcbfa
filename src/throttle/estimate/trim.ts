/** What a little too much is cut to. Pure. */

import type { Second } from '../record/seconds.ts';
import { type Room, refusedShareOf } from './room.ts';

/** So far beyond what went well, what was let in says more than that. */
const FAR_BEYOND = 1.2;

interface Tried {
  /** What was too much. */
  readonly force: number;
  readonly good: number;
}

export function trimmed(
  { force, good }: Tried,
  { room }: Room,
  saturated: readonly Second[],
): number {
  // A permit too many shows as its share of refusals, which is less noisy than what was let in.
  const isNear = force <= 1.15 * good;
  const fits = isNear ? force * (1 - 1.1 * refusedShareOf(saturated)) : 0;
  const isFar = force > FAR_BEYOND * good;
  const known = isFar ? Math.min(force, 0.98 * room) : Math.min(good, room);
  return Math.max(known, fits) * 0.992;
}
