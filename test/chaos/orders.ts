/** What a pod's process is told when it starts, and what it says by its end. */

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
  readonly isSuspectsOnly: boolean;
}

/** For phases in hand and the last words to the store, when it is asked to end. */
export const DRAIN_BUDGET_MS = 5_000;

/** The store could not be reached at the start: whoever keeps pods up tries again. */
export const NO_STORE = 75;
