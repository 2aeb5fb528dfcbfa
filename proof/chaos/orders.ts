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

/** What a pod's process tells whoever keeps it up. */
export type WorkerWord =
  | 'ready'
  /** Its journal can write nothing; and can again. */
  | { readonly stalled: string }
  | { readonly recovered: true }
  /** Its wall clock is so far from the true one, which it was not before. */
  | { readonly skewMs: number };

/** For phases in hand and the last words to the store, when it is asked to end. */
export const DRAIN_BUDGET_MS = 5_000;

/** The store could not be reached at the start: whoever keeps pods up tries again. */
export const NO_STORE = 75;

/** The heap of a pod, so small that a handler can use it up. */
export const HEAP_MIB = 192;

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}
