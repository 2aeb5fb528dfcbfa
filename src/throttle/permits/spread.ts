/** All who were told to wait for one moment must not come back in it. */
const SPREAD_SHARE = 0.2;
const SPREAD_MS_MAX = 5_000;

/** Never before its time, and a little after it. */
export function spreadMs(waitMs: number, chance: number): number {
  return waitMs + chance * Math.min(SPREAD_MS_MAX, SPREAD_SHARE * waitMs);
}
