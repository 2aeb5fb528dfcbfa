/**
 * What people may do to a task. Each act is one transaction with its row in the audit log, is done
 * once however often it is sent, and only to the task as its sender saw it.
 */
import type { RunId } from '../ground/index.ts';
import type { Due, TaskRow } from './tasks.ts';
import type { TaskStatus } from './words.ts';

/**
 * `<generation>.<epoch>.<acts>`: changes with every redrive, every change of owner, and everything that
 * people change. Cut short where no more was seen: `2` is any state of that generation, `2.7` any under
 * that owner.
 */
export type Revision = string & { readonly '~brand': 'Revision' };

export function revisionOf({
  generation,
  epoch,
  acts,
}: Pick<TaskRow, 'generation' | 'epoch' | 'acts'>): Revision {
  return `${generation}.${epoch}.${acts}` as Revision;
}

export function generationSeen(generation: number): Revision {
  return `${generation}` as Revision;
}

const REVISION = /^[1-9]\d{0,9}(\.\d{1,16}){0,2}$/;

export function isRevision(text: string): text is Revision {
  return REVISION.test(text);
}

export type Deed =
  | { readonly what: 'cancel'; readonly reason: string }
  /** Nobody goes on with it until it is resumed: its owner gives it back at the next boundary. */
  | { readonly what: 'pause' }
  | { readonly what: 'resume' }
  /** Now, and not when its wait, backoff or put-off is over. Costs and forgets nothing. */
  | { readonly what: 'retry' }
  | { readonly what: 'reschedule'; readonly due: Due }
  /** A new generation; with `payload` of another input, which begins afresh. */
  | { readonly what: 'redrive'; readonly isFresh: boolean; readonly payload?: string | undefined }
  | { readonly what: 'discard' }
  /**
   * A new task that begins with the records of this one up to a phase. `records` are those, under the
   * new task's id; the task is as this one was enqueued but for its key.
   */
  | {
      readonly what: 'fork';
      readonly as: RunId;
      readonly payload: string;
      readonly records: string | undefined;
      readonly lastSeq: number;
      readonly lastHash: string | undefined;
      readonly state: string;
    };

export interface Act {
  /** Sent again under the same id it is done once, and answered the same. */
  readonly requestId: string;
  readonly who: string;
  /** 'cli', 'api', 'library', or the bulk operation that does it. */
  readonly via: string;
  readonly task: RunId;
  readonly deed: Deed;
  /** Only while this bulk operation goes on, and the shift of this epoch is at it. */
  readonly bulk?: { readonly id: string; readonly epoch: number } | undefined;
  /** Only if the task is still like this. */
  readonly ifRevision?: Revision | undefined;
  readonly isDryRun?: boolean | undefined;
  /** Of what was asked; told where the deed itself is sealed, and so never comes out the same twice. */
  readonly digest?: string | undefined;
}

/** Why an act was not done; nothing was changed. */
export type Refusal =
  /** There is no such task. */
  | 'unknown'
  /** It has ended. */
  | 'ended'
  /** It has not ended yet. */
  | 'unfinished'
  /** A pod is at it. */
  | 'held'
  /** It is not as the sender saw it. */
  | 'revision'
  /** Its bulk operation was stopped, or another is at it. */
  | 'fenced'
  /** The request id was used for something else. */
  | 'reused'
  /** It does not fit what it is: a local run cannot be redriven, a completed one only afresh. */
  | 'unfit';

export type ActAnswer =
  /** `requested`: its owner will see to it. `already`: it was as asked. */
  | {
      readonly kind: 'done' | 'requested' | 'already';
      readonly isDryRun: boolean;
      /** Answered again: it had been done before, under this request id. */
      readonly isRepeated: boolean;
      readonly before: Glimpse;
      readonly after: Glimpse;
      /** Of a fork, the new one. */
      readonly made?: RunId | undefined;
    }
  | {
      readonly kind: 'refused';
      readonly why: Refusal;
      readonly detail: string;
      readonly now: Glimpse | undefined;
    };

/** A task before and after an act. */
export interface Glimpse {
  readonly status: TaskStatus;
  readonly revision: Revision;
  readonly isPaused: boolean;
  readonly runAt: number;
}

/** What a person did that is no change of a task, such as having been shown a payload. */
export interface Note {
  /** Told again under the same id it is noted once. */
  readonly requestId: string;
  readonly who: string;
  readonly what: string;
  readonly task?: RunId | undefined;
  readonly detail: object;
}

/** Of a task that is only made with it. */
export type StartNote = Omit<Note, 'task'>;
