/** Wall time that runs `factor` times as fast, the same in every process that is given one base. */
import { type Clock, systemClock } from '../../src/ground/index.ts';

export function fastClock(baseMs: number, factor: number): Clock {
  return {
    now: () => Math.floor(baseMs + (Date.now() - baseMs) * factor),
    monotonicMs: () => systemClock.monotonicMs() * factor,
    after: (delayMs, act, options) => systemClock.after(delayMs / factor, act, options),
    soon: (act) => systemClock.soon(act),
  };
}
