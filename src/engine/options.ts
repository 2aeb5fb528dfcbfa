/** What an engine is given, and what it tells of itself. */
import type { Clock, Random } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import type { Registry } from '../machine/index.ts';
import type { Throttles } from '../throttle/index.ts';
import type { LiveRun } from './live-run.ts';
import type { Around } from './phase-call.ts';
import type { Shadow } from './tie.ts';

export interface EngineOptions {
  readonly journal: Journal;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly slots: number;
  /** Machines whose runs wait neither for a slot nor for room behind others: those that rescue a fleet. */
  readonly isUrgent?: ((machine: string) => boolean) | undefined;
  readonly resultBytesMax: number;
  readonly activeRunsMax: number;
  readonly retentionMs: number;
  /** Without them every API has the defaults. */
  readonly throttles?: Throttles | undefined;
  readonly around?: Around | undefined;
  /** Asked for every run that was started here: who shows it to others, if anybody. */
  readonly shadow?: ((run: LiveRun) => Shadow | undefined) | undefined;
  /** Called before the journal is let go: from then on the directory may be another's. */
  readonly beforeClose?: (() => void) | undefined;
}

export interface DrainReport {
  /** Runs that go on in the next process. */
  readonly unfinished: number;
  /** Of these, the ones that were inside a phase when the budget was spent. */
  readonly interrupted: number;
}

export interface Load {
  readonly busy: number;
  readonly slots: number;
  readonly queued: number;
  readonly inMemory: number;
  /** Runs of this host that no version which is here can go on with; the latest 10,000 count. */
  readonly blocked: number;
  /**
   * Runs in memory that wait, by what for: until a time after a failure, until a time they asked for,
   * or, inside a phase, for leave to call an API.
   */
  readonly waits: { readonly sleep: number; readonly retry: number; readonly throttle: number };
}
