/**
 * How far an API is believed that says how much room it has. One that refuses calls for which it said it had
 * room has another limit than the one it tells of, such as calls at once beside calls a minute: then its
 * word is a ceiling for a while, and what it takes is found out as without it.
 */
const NEAR_SHARE = 0.9;
const DOUBT_MS = 10 * 60_000;
/** No step is larger than one of first contact. */
const STEP_MAX = 2;

export class Hints {
  #doubtedMs = Number.NEGATIVE_INFINITY;

  /** The cap to go by; undefined where that is to be found out. */
  believed(said: number, cap: number, isRefused: boolean, nowMs: number): number | undefined {
    if (isRefused && said > NEAR_SHARE * cap) this.#doubtedMs = nowMs;
    const isDoubted = nowMs - this.#doubtedMs < DOUBT_MS;
    return said > cap && isDoubted ? undefined : Math.min(said, STEP_MAX * cap);
  }
}
