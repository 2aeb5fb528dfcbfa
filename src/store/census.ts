/**
 * The fleet's work in figures, for whoever leads and shows them. Every figure is counted up to a bound
 * and no further: a queue of a million costs what one of ten thousand does, and shows as ten thousand.
 */

/** What is there of one route that the fleet knows: without paused tasks, and those pinned to a host. */
export interface RouteCensus {
  readonly route: string;
  readonly machine: string;
  /** Whether a pod that is up has it. */
  readonly isLive: boolean;
  /** Due, or about to be. */
  readonly pending: number;
  /** By what they wait for; those whose time has come are due as well. Without serial turns. */
  readonly waits: Readonly<Record<string, number>>;
  /** Nobody's, and have outlived two owners. */
  readonly suspect: number;
  /** For how long the oldest of all these has been due; undefined where none is. */
  readonly oldestMs: number | undefined;
}

export interface MachineCount {
  readonly machine: string;
  readonly count: number;
}

/** A queue to which people have given a rule: a limit, or a pause. */
export interface QueueCensus {
  readonly queue: string;
  readonly limit: number | undefined;
  readonly isPaused: boolean;
  /** Held by pods now, without local runs, which no limit counts. */
  readonly claimed: number;
}

export interface Census {
  /** In the order of routes. */
  readonly routes: readonly RouteCensus[];
  /** What pods hold, in the order of machines. */
  readonly claimed: readonly MachineCount[];
  /** What failed and nobody has discarded, in the order of machines. */
  readonly deadLetters: readonly MachineCount[];
  /** Claimed by pods that are dead, gone, or silent for longer than they said they might be. */
  readonly orphans: number;
  /** How long ago the first of those owners was last heard of; undefined where there is none. */
  readonly orphansOldestMs: number | undefined;
  /** In the order of names. */
  readonly queues: readonly QueueCensus[];
  /** For how long the first tick of an active schedule has been due; undefined where none is. */
  readonly scheduleLateMs: number | undefined;
  /** How long ago the first task ended that retention may remove when it is old enough. */
  readonly endedOldestMs: number | undefined;
  /** For how long the first key that has outlived its task could be free. */
  readonly keysLateMs: number | undefined;
  /**
   * How long ago the oldest transaction of the server began, which keeps rows that ended since from being
   * removed; 0 where none is open. Undefined where the store has no such thing, or does not say.
   */
  readonly oldestTransactionMs: number | undefined;
}

/** Routes of a fleet that is ten years old; more of them are not looked at. */
export const CENSUS_ROUTES_MAX = 1_000;
/** Queues with rules; more of them are not looked at. */
export const CENSUS_QUEUES_MAX = 100;
/** Of one route, the priorities among which the oldest task is looked for, the highest first. */
export const CENSUS_PRIORITIES_MAX = 100;
