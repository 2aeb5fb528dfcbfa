/** What can go wrong between a pod and its fleet. */
import {
  describeError,
  FleetqError,
  type FleetqErrorOptions,
  type RunId,
} from '../ground/index.ts';
import type { Claim } from '../store/index.ts';

/** The sweep, or a later claim, has taken the task: this run stops here without writing. */
export class ClaimLostError extends FleetqError {
  readonly code = 'FLEETQ_CLAIM_LOST';
  readonly verdict = 'abort';
  constructor(claim: Claim, options?: FleetqErrorOptions) {
    super(`claim ${claim.epoch} on task ${claim.task} no longer stands`, options);
  }
}

/** Another process lives with the journal of this one: its volume was cloned, or moved too early. */
export class JournalElsewhereError extends FleetqError {
  readonly code = 'FLEETQ_JOURNAL_ELSEWHERE';
  readonly verdict = 'retry';
  constructor(journal: string, pod: string, name: string) {
    super(`journal ${journal} is in use by pod ${pod} (${name}): this process takes no runs`, {
      hint:
        'give each process a data directory of its own; if that pod is gone for good, stop this ' +
        'process and run `fleetq journal adopt`',
    });
  }
}

/** The commit of a persist did not reach the store: nothing of it has happened, and it may be tried again. */
export class CommitLostError extends FleetqError {
  readonly code = 'FLEETQ_COMMIT_LOST';
  readonly verdict = 'retry';
  constructor() {
    super('the commit of persist did not reach the store, and nothing of it was written');
  }
}

/** What the store holds of a run does not fit together: nothing is guessed. */
export class BrokenHistoryError extends FleetqError {
  readonly code = 'FLEETQ_BROKEN_HISTORY';
  readonly verdict = 'abort';
  constructor(task: RunId, why: string, options?: FleetqErrorOptions) {
    super(`the history of task ${task} cannot be trusted: ${why}`, {
      hint: 'look at its rows in run_events; a redrive with a fresh start begins without them',
      ...options,
    });
  }
}

/** A row that no machine here can make sense of: it becomes a dead letter with this reason. */
export class BadTaskError extends FleetqError {
  readonly code = 'FLEETQ_BAD_TASK';
  readonly verdict = 'abort';
}

/** Another input stands under the same key. */
export class TaskKeyConflictError extends FleetqError {
  readonly code = 'FLEETQ_KEY_CONFLICT';
  readonly verdict = 'abort';
  readonly conflict: KeyConflict;
  constructor(conflict: KeyConflict, where = '') {
    const { machine, key, task } = conflict;
    super(
      `${where}the key '${key}' of ${machine} belongs to task ${task}, which has another input`,
      {
        hint: 'use another key, or the same input',
      },
    );
    this.conflict = conflict;
  }

  /** The same, for whoever enqueues a file. */
  onLine(line: number): TaskKeyConflictError {
    return new TaskKeyConflictError(this.conflict, `line ${line}: `);
  }
}

/** One of many that were to be enqueued cannot be; nothing of its batch was. */
export class BadItemError extends FleetqError {
  readonly code = 'FLEETQ_BAD_ITEM';
  readonly verdict = 'abort';
  /** Which one it is, from 0. */
  readonly index: number;
  /** How many before it have been enqueued, and stay. */
  readonly enqueued: number;
  constructor(index: number, cause: unknown, enqueued = 0) {
    const hint = (cause as { hint?: string } | null)?.hint;
    const there = enqueued === 0 ? 'nothing was enqueued' : `the first ${enqueued} are enqueued`;
    super(`item ${index}: ${describeError(cause).message}; ${there}`, {
      cause,
      ...(hint === undefined ? {} : { hint }),
    });
    this.index = index;
    this.enqueued = enqueued;
  }

  after(enqueued: number): BadItemError {
    return new BadItemError(this.index, this.cause, enqueued);
  }
}

interface KeyConflict {
  readonly machine: string;
  readonly key: string;
  /** The task that has the key. */
  readonly task: RunId;
  /** Which one it is, of those that were to be enqueued together. */
  readonly index: number;
}

/** This process has no shared store. */
export class NoStoreError extends FleetqError {
  readonly code = 'FLEETQ_NO_STORE';
  readonly verdict = 'abort';
  constructor(what: string) {
    super(`${what} needs a store, and this process has none`, {
      hint: "give createFleet a store, for example 'postgres://…', or use startLocal",
    });
  }
}

/** No task of that id is in the store. */
export class TaskNotFoundError extends FleetqError {
  readonly code = 'FLEETQ_TASK_NOT_FOUND';
  readonly verdict = 'abort';
  constructor(id: string) {
    super(`there is no task ${id}`, { hint: 'retention may have removed it' });
  }
}

/** No bulk operation of that id is in the store. */
export class BulkNotFoundError extends FleetqError {
  readonly code = 'FLEETQ_BULK_NOT_FOUND';
  readonly verdict = 'abort';
  constructor(id: string) {
    super(`there is no bulk operation ${id}`, {
      hint: 'list them with: fleetq bulk list; retention may have removed it',
    });
  }
}

/** A run cannot begin where it was told to: the other one has never been there. */
export class ForkError extends FleetqError {
  readonly code = 'FLEETQ_FORK';
  readonly verdict = 'abort';
}

/** The thread of the heart came to nothing before it could beat. */
export class HeartFailedError extends FleetqError {
  readonly code = 'FLEETQ_HEART_FAILED';
  readonly verdict = 'retry';
  constructor(options?: FleetqErrorOptions) {
    super('the thread of the heartbeat ended before its first beat', options);
  }
}

/** What is tried again later: the store is away, or cannot now. */
export function isPassing(error: unknown): boolean {
  return error instanceof FleetqError && error.verdict === 'retry';
}
