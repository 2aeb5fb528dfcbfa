/** What every store can be opened with; what does not concern one of them it ignores. */
import type { Clock, Random } from '../ground/index.ts';

export interface StoreOptions {
  readonly clock: Clock;
  readonly random: Random;
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
}
