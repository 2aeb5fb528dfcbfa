/** Whether an API lets in much less than before. Pure. */

import type { Second } from '../record/seconds.ts';
import { isPlain, isSaturated, type Means, roomOf } from './room.ts';

export interface Standing extends Means {
  readonly cap: number;
  readonly good: number | undefined;
  /** Permits that nobody can have used. */
  readonly moving: number | undefined;
}

const FELL_SHARE = 0.88;

/** What was refused while more was tried than ever went well says nothing of a fall. */
export function isFallen(roomMax: number, { cap, good = cap, moving = 0 }: Standing): boolean {
  return roomMax < FELL_SHARE * (Math.min(cap, good) - moving);
}

/** Whether these seconds, whatever the cap was in them, show that much less is let in than before. */
export function showFall(seconds: readonly Second[], standing: Standing): boolean {
  const saturated = seconds.filter(isSaturated);
  if (saturated.length === 0 || !isPlain(saturated, seconds)) return false;
  return isFallen(roomOf(saturated, standing).roomMax, standing);
}
