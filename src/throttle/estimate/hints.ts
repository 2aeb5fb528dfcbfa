/**
 * How far an API is believed that says how much room it has. One that refuses calls for which it said it had
 * room has another limit than the one it tells of, such as calls at once beside calls a minute: then its
 * word is a ceiling for a while, and what it takes is found out as without it. That is not so where it lets
 * nothing in any more: others have used up what it told of, and what it said is of before that.
 */
import type { Second } from '../record/seconds.ts';
import { isSaturated } from './room.ts';
import type { Sight } from './sight.ts';

const NEAR_SHARE = 0.9;
const DOUBT_MS = 10 * 60_000;
/** No step is larger than one of first contact, but for one back to what went well. */
const STEP_MAX = 2;
/** So many seconds in which some were let in and some refused: a window that ends or begins has fewer. */
const MIXED_COUNT = 3;
const MIXED_S = 10;

export class Hints {
  #doubtedMs = Number.NEGATIVE_INFINITY;
  #mixedCount = 0;
  #mixedAt = Number.NEGATIVE_INFINITY;
  /** The most that went well by its word. */
  #most = 0;

  /** The cap to go by, if there is a word that is believed. */
  capBy(
    { perSecondHint, isHintMost, seconds }: Pick<Sight, 'perSecondHint' | 'isHintMost' | 'seconds'>,
    cap: number,
    latencyMs: number | undefined,
    nowMs: number,
  ): number | undefined {
    if (perSecondHint === undefined || latencyMs === undefined) return undefined;
    const said = (perSecondHint * latencyMs) / 1_000;
    const believed = this.believed(said, cap, seconds, nowMs);
    if (!isHintMost || said <= cap) return believed;
    // What went well before is no new limit, that would be to be found out.
    const known = Math.min(said, this.#most);
    return known > cap ? known : undefined;
  }

  /** The cap to go by; undefined where that is to be found out. */
  believed(
    said: number,
    cap: number,
    seconds: readonly Second[],
    nowMs: number,
  ): number | undefined {
    for (const second of seconds) if (isSaturated(second)) this.#noteRefused(second);
    const isNear = said > NEAR_SHARE * cap;
    if (!seconds.some(isSaturated)) this.#most = Math.max(this.#most, cap);
    else if (isNear && this.#mixedCount >= MIXED_COUNT) {
      this.#doubtedMs = nowMs;
      this.#most = 0;
    }
    const isDoubted = nowMs - this.#doubtedMs < DOUBT_MS;
    if ((isNear && isShut(seconds)) || (said > cap && isDoubted)) return undefined;
    return Math.min(said, Math.max(STEP_MAX * cap, this.#most));
  }

  #noteRefused({ at, sent, throttled }: Second): void {
    const isMixed = sent > throttled;
    const isLately = at - this.#mixedAt <= MIXED_S;
    this.#mixedCount = isMixed ? 1 + (isLately ? this.#mixedCount : 0) : 0;
    this.#mixedAt = at;
  }
}

/** Whether all was refused in the end. */
function isShut(seconds: readonly Second[]): boolean {
  const last = seconds.findLast(({ sent }) => sent > 0);
  return last !== undefined && last.sent <= last.throttled;
}
