/** What pods tell of an API with their heartbeats, what is said of it, and for how long that holds. */

import type { Ceilings } from '../ceilings.ts';
import type { Decision } from '../estimate/estimator-rule.ts';
import type { Learned } from '../estimate/learned.ts';
import type { BreakerState } from '../permits/breaker.ts';
import type { LatencyCounts } from '../record/latencies.ts';
import type { Second } from '../record/seconds.ts';
import type { Counted } from './counted.ts';
import type { Division } from './shares.ts';

/** What a pod tells of one API with its heartbeat. */
export interface PodReport extends Ceilings {
  /** When it was taken, by the clock of whoever reads it. */
  readonly atMs: number;
  /** Names it among those of its pod. */
  readonly mark: number;
  /** How often its pod beats: so long it keeps a share that it does not hear of. */
  readonly beatMs: number;
  /** The last seconds that were over then. */
  readonly seconds: readonly Second[];
  /** How calls ended since the last report that had been told of by then, by when they were sent. */
  readonly late?: readonly Second[] | undefined;
  readonly latencies: LatencyCounts;
  readonly latencyMsSum: number;
  readonly answers: number;
  /** Calls that ended otherwise, and not because the API is ill. */
  readonly others?: number | undefined;
  readonly inFlight: number;
  readonly waiting: number;
  readonly demand: number;
  /** How much of a declared rate it wants: 0 where none is declared there. Older versions do not tell. */
  readonly parts?: number | undefined;
  readonly perSecondHint?: number | undefined;
  readonly isHintMost?: boolean | undefined;
  /** For so long the API wants to be left alone, as this pod was told. */
  readonly pausedMs?: number | undefined;
  /** This pod alone has found the API to be ill. */
  readonly isOpen?: boolean | undefined;
  /** The last word was not made with a report of it. */
  readonly wantsWord?: boolean | undefined;
}

export interface Published extends Ceilings {
  readonly epoch: number;
  readonly madeMs: number;
  /** By which reports. */
  readonly counted: Counted;
  /** Whoever gets less heeds that at once, whoever gets more from this time on. */
  readonly growsAtMs: number;
  /** Whoever gets more of a declared rate has it from this time on; as the rest, where nothing is said. */
  readonly ratesGrowAtMs?: number | undefined;
  readonly division: Division;
  /** What was divided before, the oldest first, up to this epoch: not everybody hears every word. */
  readonly recent: readonly Division[];
  readonly breaker: BreakerState;
  readonly learned: Learned;
  /** What was found out, where a person has fixed the limit to something else. */
  readonly found?: number | undefined;
  readonly decision: Decision;
  /** No pod has a call out or waiting. */
  readonly isIdle?: boolean | undefined;
  /** Calls a second, as the API's headers told the pods. */
  readonly toldPerSecond?: number | undefined;
  /** All there are, those included that were not heard lately. */
  readonly podCount: number;
  /** How long the API asked the fleet to leave it alone. */
  readonly pausedMs: number;
}

/** A pod that has not heard for so many heartbeats gives its share up: others may have it from then on. */
export const HEARD_BEATS = 2;
/** One that was not heard for so many is no longer counted: by then what it had out has come back, too. */
export const LEASE_BEATS = 3;
/** Below a whole permit calls are paced: about one in two round trips. */
export const SHARE_MIN = 0.5;
