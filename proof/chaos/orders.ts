/** What a pod's process is told when it starts, what it tells, and what it says by its end. */

export interface WorkerOrders {
  /** Where the built package is. */
  readonly dist: string;
  /** The way to the store: this pod's own proxy. */
  readonly url: string;
  readonly dataDir: string;
  readonly name: string;
  readonly ledger: string;
  readonly log: string;
  readonly slots: number;
  /** Of all its machines. */
  readonly version: number;
  readonly isSuspectsOnly: boolean;
  /** Where a handler says what it is about to do to its own process; all pods share it. */
  readonly foretold: string;
  /** The true wall time at zero of the monotonic clock, which all processes of a host share. */
  readonly wallAtZeroMs: number;
}

/** What a pod's process reports to its house. */
export type WorkerWord = Report | { readonly skewMs: number };

/**
 * `stalled`      its journal can write nothing
 * `recovered`    and can again
 * `damaged`      its start has put a damaged journal aside
 * `registered`   it is a pod of the fleet
 * `refused`      the store had no room for its registration
 * `left`         its life as a pod has ended, and its process goes on
 * `rival`        another process has its journal
 * `slotsHeld`    every slot is in use by a run that waits for the end of the hold
 * `filled`       its journal has the local runs that it was asked for, and they have ended
 */
export type Report =
  | 'ready'
  | 'stalled'
  | 'recovered'
  | 'damaged'
  | 'registered'
  | 'refused'
  | 'left'
  | 'rival'
  | 'slotsHeld'
  | 'filled';

/** What a house asks of its process: to hold all slots for at most so long, to release them, to fill its journal. */
export type HouseWord = { readonly holdMs: number } | 'release' | 'fill';

/** Of the store that refuses a registration. */
export const NO_ROOM = 'chaos: no room for another pod';

/** For phases in hand and the last words to the store, when it is asked to end. */
export const DRAIN_BUDGET_MS = 5_000;

/** The store could not be reached at the start: whoever keeps pods up tries again. */
export const NO_STORE = 75;

/** The heap of a pod, so small that a handler can use it up. */
export const HEAP_MIB = 192;

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}
