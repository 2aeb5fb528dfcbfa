/** What an estimate goes by: what was seen of an API, and how often that is looked at. */
import type { LatencyCounts } from '../record/latencies.ts';
import type { Second } from '../record/seconds.ts';

/** What was seen since the last time. */
export interface Sight {
  /** Seconds that are over, with whatever was refused in them. */
  readonly seconds: readonly Second[];
  /** When the last of them was over. */
  readonly untilMs: number;
  readonly latencies: LatencyCounts;
  readonly latencyMsSum: number;
  readonly answers: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Permits on their way from one pod to another, which nobody can have used. */
  readonly moving?: number | undefined;
  /** Until when the API has told somebody to leave it alone, also where that is over by now. */
  readonly pausedUntilMs?: number | undefined;
  /** What the API itself says it has room for. */
  readonly perSecondHint?: number | undefined;
  /** That is no more than a bound: whether the API takes as many is to be found out. */
  readonly isHintMost?: boolean | undefined;
}

export interface Tempo {
  /** How often it is asked. */
  readonly tickMs: number;
  /** How long it takes until everybody heeds a new cap. */
  readonly delayMs: number;
}

/** One look at that. */
export interface Look extends Sight {
  readonly nowMs: number;
  readonly tickMs: number;
}
