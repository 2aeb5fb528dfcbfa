/** What every store can be opened with; what does not concern one of them it ignores. */
import { type Clock, type Random, systemClock, systemRandom } from '../ground/index.ts';

export interface StoreOptions {
  /** The real one where nothing is said; so is `random`. */
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** Makes the tables, or brings them up to date, first; otherwise that is left to `fleetq migrate`. */
  readonly migrates?: boolean | undefined;
  /** An answer that has not come by then does not come. */
  readonly deadlineMs?: number | undefined;
  /**
   * Whether every statement may take effect after its deadline without harm, as a heartbeat may. Then
   * a role behind a pooler need not have a limit that is shorter than that deadline.
   */
  readonly toleratesLate?: boolean | undefined;
  /** How many connections one handle may have. */
  readonly poolSize?: number | undefined;
  /** `cas` where SKIP LOCKED cannot be trusted: rivals pick different rows instead. */
  readonly claimMode?: 'skip-locked' | 'cas' | undefined;
  /** The way goes through a pooler that gives every transaction another connection. */
  readonly isPooled?: boolean | undefined;
  /** A direct way to the same server, for hints alone: they do not pass a pooler. */
  readonly listenUrl?: string | undefined;
}

/** The same, as stores take it. */
export interface FilledStoreOptions extends StoreOptions {
  readonly clock: Clock;
  readonly random: Random;
}

export function filled({ clock, random, ...options }: StoreOptions): FilledStoreOptions {
  return { ...options, clock: clock ?? systemClock, random: random ?? systemRandom };
}
