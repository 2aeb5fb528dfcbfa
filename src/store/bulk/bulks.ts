/**
 * What people do to many tasks at once: a deed, and the filter that finds the tasks it is done to. It is
 * a row; a run of the machine `fleet/bulk`, its shift, works it off. The page that a shift has in hand is
 * written before anything is done to it, and the counts with the next one: so whoever goes on after a
 * crash does the same page again, under the same request ids, and counts each task once.
 *
 *   running ──pause──→ pausing ──shift──→ paused ──resume──→ running
 *      │                  └───────── resume ────────────────────↑
 *      ├──cancel──→ cancelling ──shift──→ cancelled
 *      └──nothing is left──→ completed
 */
import type { RunId } from '../../ground/index.ts';
import type { Deed, Refusal } from '../acts.ts';
import type { NewTask } from '../tasks.ts';
import { BULK_MACHINE } from '../words.ts';

/** A fork needs a phase of each task, and a new input is one task's own. */
export type BulkDeed = Exclude<Deed, { readonly what: 'fork' | 'redrive' }> | BulkRedrive;
interface BulkRedrive {
  readonly what: 'redrive';
  readonly isFresh: boolean;
}

export const BULK_WHATS = [
  'cancel',
  'pause',
  'resume',
  'retry',
  'reschedule',
  'redrive',
  'discard',
] as const satisfies readonly BulkDeed['what'][];

export type BulkStatus =
  | 'running'
  | 'pausing'
  | 'paused'
  | 'cancelling'
  | 'cancelled'
  | 'completed';

/** A task in the hands of a shift, as it was seen. */
export interface BulkItem {
  readonly task: RunId;
  readonly generation: number;
}

/** One that was refused, for people. */
export interface BulkSample {
  readonly task: RunId;
  readonly why: Refusal;
  readonly detail: string;
}

export interface BulkCounts {
  readonly done: number;
  readonly requested: number;
  readonly already: number;
  readonly refused: number;
}

/** What came of a page, or of a part of it. */
export interface BulkTally extends BulkCounts {
  readonly refusals: Readonly<Partial<Record<Refusal, number>>>;
  readonly samples: readonly BulkSample[];
}

export interface NewBulk {
  readonly id: string;
  /** Sent again under the same id it is begun once, and answered with what it has become. */
  readonly requestId: string;
  readonly who: string;
  readonly via: string;
  readonly what: BulkDeed['what'];
  /** JSON text of a `BulkDeed`. */
  readonly deed: string;
  readonly filter: string;
  /** Who asks is not shown what errors say, so the filter looks at their names alone. */
  readonly isMasked: boolean;
  /** Tasks a second. */
  readonly rate: number;
  readonly countMax: number | undefined;
  /** Its first shift, put in with it. */
  readonly shift: NewTask;
  /** Of what was asked; told where the texts are sealed, and so never come out the same twice. */
  readonly digest?: string | undefined;
}

export interface BulkRow extends BulkTally {
  readonly id: string;
  readonly what: BulkDeed['what'];
  readonly deed: string;
  readonly filter: string;
  readonly isMasked: boolean;
  readonly rate: number;
  readonly countMax: number | undefined;
  readonly who: string;
  readonly via: string;
  readonly status: BulkStatus;
  /** Tasks that were created later are not touched, and `2h` ago is counted from here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | undefined;
  /** How many the filter found when the first shift began; undefined where they were too many to count. */
  readonly expected: number | undefined;
  /** Where the last page ended. */
  readonly cursor: string | undefined;
  /** The last page was the last. */
  readonly isRead: boolean;
  readonly inHand: readonly BulkItem[];
  /** How many have been in hand, those included. */
  readonly found: number;
  /** How many shifts have been put in, and the run that is the last of them. */
  readonly shift: number;
  readonly shiftRun: RunId;
  /** The fencing token of the shift's last owner, and how often one has begun: what it writes names that. */
  readonly token: number;
  readonly epoch: number;
}

export interface BulkTaking {
  readonly id: string;
  readonly run: RunId;
  readonly token: number;
}

/**
 * What a shift has come to. Whatever was done to the page in hand is in the tally by then: a save is what
 * a pause or a cancellation waits for.
 */
export interface BulkSave {
  readonly id: string;
  readonly epoch: number;
  readonly tally?: BulkTally | undefined;
  /** What is in hand from now on. */
  readonly inHand: readonly BulkItem[];
  /** A page has been read: how many there were, and where it ended; undefined at the end of the list. */
  readonly read?: { readonly found: number; readonly cursor: string | undefined } | undefined;
  readonly expected?: number | undefined;
  /** Another run goes on from here; put in with the save, where it goes on at all. */
  readonly next?: NewTask | undefined;
}

export interface BulkOrder {
  readonly id: string;
  readonly requestId: string;
  readonly who: string;
  readonly via: string;
  readonly order:
    | { readonly what: 'pause' | 'resume' | 'cancel' }
    | { readonly what: 'pace'; readonly rate: number };
  readonly isDryRun?: boolean | undefined;
  /** A shift for it, put in where it needs one. */
  readonly shift: NewTask;
}

export type BulkAnswer =
  | {
      readonly kind: 'done' | 'requested' | 'already';
      readonly isRepeated: boolean;
      readonly isDryRun: boolean;
      /** As it is then. */
      readonly bulk: BulkRow;
    }
  | {
      readonly kind: 'refused';
      readonly why: 'unknown' | 'ended';
      readonly detail: string;
    };

export interface BulkBegun {
  readonly bulk: BulkRow;
  readonly isRepeated: boolean;
}

/** Newest first, or those of these ids. */
export interface BulkQuery {
  readonly ids?: readonly string[] | undefined;
  /** Only those that were begun before this one. */
  readonly before?: string | undefined;
  readonly countMax: number;
}

export const BULK_VERSION = 1;
/** A cancellation must not wait behind the flood that it is to end. */
const BULK_PRIORITY = 1_000;

/** The run that goes on with it. */
export function shiftOf(bulk: string, run: RunId): NewTask {
  return {
    id: run,
    machine: BULK_MACHINE,
    version: BULK_VERSION,
    queue: 'default',
    priority: BULK_PRIORITY,
    due: undefined,
    payload: JSON.stringify({ bulk }),
    key: undefined,
    keyMs: 0,
    retriesMax: undefined,
    deadlineMs: undefined,
    traceParent: undefined,
  };
}
