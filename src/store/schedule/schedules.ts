/**
 * Schedules: rows that say when a machine is to run again and again. A tick is an instant at which one
 * does. Whoever finds a row due, any pod, puts the tasks of its ticks in and moves the row on to the next
 * tick, in one transaction that stands only if nobody has moved or changed it since (`edition`): so each
 * tick is put in once, and there need be no leader.
 *
 *   (none) ──set, declare──→ active ⇄ paused        removed: the row stays, so that a pod with older
 *                              └──────┴──→ removed   code does not bring it back
 */
import type { RunId } from '../../ground/index.ts';
import type { NewTask } from '../tasks.ts';

/**
 * What becomes of ticks that nobody put in when they were due, since no pod was up. `skip`: nothing.
 * `one`: the last of them. `all`: each of them, the oldest first, up to a bound.
 */
export type Missed = 'skip' | 'one' | 'all';
export const MISSED: readonly Missed[] = ['skip', 'one', 'all'];

/**
 * What becomes of a tick while the run before it has not ended. `allow`: it is put in. `skip`: it is left
 * out, and counted.
 */
export type Overlap = 'allow' | 'skip';
export const OVERLAP: readonly Overlap[] = ['allow', 'skip'];

export type ScheduleStatus = 'active' | 'paused' | 'removed';

/** What a schedule says. */
export interface SchedulePlan {
  readonly machine: string;
  readonly expression: string;
  readonly zone: string;
  /** JSON text: the input of every run. */
  readonly payload: string;
  /** The property of the input that tells the tick; the input must be an object then. */
  readonly tickAs: string | undefined;
  readonly missed: Missed;
  readonly overlap: Overlap;
  /** Each run is put off by up to so much, always the same for the same tick. */
  readonly jitterMs: number;
  readonly queue: string;
  readonly priority: number;
}

export interface ScheduleRow extends SchedulePlan {
  readonly name: string;
  readonly status: ScheduleStatus;
  /** Of the declaration in code that it last followed; 0 where there was none. */
  readonly revision: number;
  /** Names what that declaration said. */
  readonly declared: string | undefined;
  /** Who said last what it says. */
  readonly source: 'code' | 'people';
  /** Raised by every tick and every change. */
  readonly edition: number;
  /** The first tick that is not put in; undefined where it is not active. */
  readonly nextAt: number | undefined;
  readonly lastAt: number | undefined;
  /** The last that was put in, by a tick or by people. */
  readonly lastRun: RunId | undefined;
  /** Its tick, or when people asked for it. */
  readonly lastRunAt: number | undefined;
  /** How many ticks were put in. */
  readonly ticks: number;
  /** How many were left out, since the run before had not ended. */
  readonly skipped: number;
  /** Why the last ones were not, or not all. */
  readonly trouble: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type ScheduleOrder =
  | { readonly what: 'set'; readonly plan: SchedulePlan }
  /** By code: counts only where its revision is higher than any before. */
  | { readonly what: 'declare'; readonly plan: SchedulePlan; readonly revision: number }
  | { readonly what: 'pause' | 'resume' | 'remove' }
  /** One run now, whatever its ticks; also of one that is paused. */
  | {
      readonly what: 'run';
      readonly task: NewTask;
      /** Of the row that it was made of; undefined where that does not matter. */
      readonly edition?: number | undefined;
    };

export interface ScheduleChange {
  readonly name: string;
  /** Sent again under the same id it is done once. */
  readonly requestId: string;
  readonly who: string;
  readonly via: string;
  /** For whoever reads the audit log. */
  readonly reason?: string | undefined;
  readonly order: ScheduleOrder;
  readonly isDryRun?: boolean | undefined;
  /** Of what it says; told where the payload is sealed, and so never comes out the same twice. */
  readonly digest?: string | undefined;
}

export type ScheduleAnswer =
  /** `already`: it was as asked. `ignored`: code says something else under a revision that was said. */
  | {
      readonly kind: 'done' | 'already' | 'ignored';
      readonly isRepeated: boolean;
      readonly isDryRun: boolean;
      readonly schedule: ScheduleRow;
      /** The one that `run` has put in. */
      readonly run?: RunId | undefined;
    }
  | { readonly kind: 'refused'; readonly why: ScheduleRefusal; readonly detail: string };

/**
 * `busy`: the run before has not ended, and the schedule has one at a time. `changed`: it is not any more
 * what the run was made of.
 */
export type ScheduleRefusal = 'unknown' | 'removed' | 'busy' | 'changed';

export interface DueSchedules {
  /** The store's. */
  readonly now: number;
  /** The longest due first. */
  readonly due: readonly ScheduleRow[];
  /** Until the next of the others is due; undefined where there is none. */
  readonly nextMs: number | undefined;
}

/** A row that was due moves on. */
export interface Ticking {
  readonly name: string;
  /** As it was seen. */
  readonly edition: number;
  readonly tasks: readonly NewTask[];
  /** How many ticks were left out, since the run before had not ended. */
  readonly skipped: number;
  readonly lastAt: number;
  readonly nextAt: number | undefined;
  readonly trouble: string | undefined;
}

/** Undefined where somebody else was first, or has changed it; nothing was written then. */
export type Ticked =
  | {
      /** Those that were put in. */
      readonly runs: readonly RunId[];
      /** Told where the key of a tick was that of another task: nothing was put in for it. */
      readonly taken?: string | undefined;
    }
  | undefined;

export interface ScheduleQuery {
  /** These alone, also removed ones. */
  readonly names?: readonly string[] | undefined;
  /** After this name, for the next page. */
  readonly after?: string | undefined;
  readonly countMax: number;
}
