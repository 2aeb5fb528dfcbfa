/** What every store can be opened with; what does not concern one of them it ignores. */
import { faultOfOptions, namesOf } from '../config/index.ts';
import { type Clock, type Random, show, systemClock, systemRandom } from '../ground/index.ts';
import { StoreOptionsError } from './errors.ts';

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
  /** How many connections one handle may have for its calls at a time; 8 by default. */
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

const NAMES = namesOf<StoreOptions>({
  clock: true,
  random: true,
  migrates: true,
  deadlineMs: true,
  toleratesLate: true,
  poolSize: true,
  claimMode: true,
  isPooled: true,
  listenUrl: true,
});

export const POOL_SIZE_MAX = 1_000;

/** A mistyped option would otherwise change nothing, quietly; and with no connections all would wait. */
export function refuseWrongStoreOptions(given: StoreOptions): void {
  const fault = faultOfOptions(given, NAMES);
  if (fault !== undefined) throw new StoreOptionsError(`openStore ${fault}`);
  const { poolSize = 1 } = given;
  if (Number.isInteger(poolSize) && poolSize >= 1 && poolSize <= POOL_SIZE_MAX) return;
  const wanted = `a whole number from 1 to ${POOL_SIZE_MAX}`;
  throw new StoreOptionsError(`poolSize must be ${wanted}, got ${show(poolSize)}`);
}

export function filled({ clock, random, ...options }: StoreOptions): FilledStoreOptions {
  return { ...options, clock: clock ?? systemClock, random: random ?? systemRandom };
}
