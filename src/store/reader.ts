/**
 * The shared tables as people look at them. A reader has connections of its own, few of them, and a
 * limit on every statement, so that no question of a person is felt by a claim; it may be another
 * server, a replica. Claims, leaders and sweeps never read here.
 */

import type { RunId } from '../ground/index.ts';
import type { Filter } from '../query/index.ts';
import type { BulkQuery, BulkRow } from './bulk/bulks.ts';
import type { Census } from './census.ts';
import type { Follower } from './follow.ts';
import type { HistoryParts } from './outlines.ts';
import type { PodRow } from './pods.ts';
import type { Gate, Gated, PausedMachine, QueueRow } from './queues.ts';
import type { ScheduleQuery, ScheduleRow } from './schedule/schedules.ts';
import type { KnownRoute, RouteTally, Segment, TaskRow } from './tasks.ts';
import type { ThrottleRow } from './throttles.ts';
import type { PodId } from './words.ts';

export interface ReaderOptions {
  /** Where to read, if not where everything is written. */
  readonly url?: string | undefined;
  readonly connectionsMax?: number | undefined;
  readonly statementMs?: number | undefined;
}

/**
 * A task in a list: what is large or secret is one question away. Of an error it has the beginning,
 * 65,536 characters, and filters look at no more of it.
 */
export type TaskGlance = Omit<TaskRow, 'payload' | 'result'>;

export interface PageQuery {
  readonly filter: Filter;
  /** By which `2h` ago is counted: the store's clock where nothing is said. Of the first page. */
  readonly nowMs?: number | undefined;
  /** Where the page before has ended; opaque. */
  readonly cursor?: string | undefined;
  /** Only what is older than this task; not together with a cursor, which says more. */
  readonly before?: RunId | undefined;
  readonly countMax: number;
  /** How long it may look before it answers with what it has. */
  readonly budgetMs?: number | undefined;
  /** Routes of pods that are up, for `is:blocked`; the store is asked where nothing is said. */
  readonly liveRoutes?: readonly string[] | undefined;
}

/** What is asked of all tasks that fit, and not of a page of them. */
export type Unpaged = Omit<PageQuery, 'cursor' | 'before'>;

export interface ErrorsQuery extends Unpaged {
  /** By their names and codes alone: for those who may not see what errors say. */
  readonly isOfNames?: boolean | undefined;
}

/** Newest first, by when they were created. */
export interface Page {
  readonly tasks: readonly TaskGlance[];
  /** Undefined where there is nothing more. */
  readonly cursor: string | undefined;
  /** Told where the time ran out: everything created since then was looked at. */
  readonly lookedBackTo: number | undefined;
}

export interface Count {
  readonly count: number;
  /** Or there are more: counting ends at 10,000, or when its time is over. */
  readonly isExact: boolean;
}

export interface HistogramQuery {
  readonly filter: Filter;
  readonly nowMs?: number | undefined;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly buckets: number;
  readonly budgetMs?: number | undefined;
  readonly liveRoutes?: readonly string[] | undefined;
}

export interface Bucket {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly byStatus: Readonly<Partial<Record<TaskRow['status'], number>>>;
}

export interface Histogram {
  readonly buckets: readonly Bucket[];
  /** As in a page. */
  readonly lookedBackTo: number | undefined;
}

/** Failures that are one and the same to people. */
export interface ErrorGroup {
  /** Sixteen hexadecimal digits: of the machine, the code or name, and the message's essence. */
  readonly fingerprint: string;
  readonly machine: string;
  readonly outcome: string;
  readonly name: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The newest of them. */
  readonly example: RunId;
}

export interface ErrorGroups {
  readonly groups: readonly ErrorGroup[];
  readonly lookedBackTo: number | undefined;
}

export interface AuditQuery {
  readonly task?: RunId | undefined;
  readonly who?: string | undefined;
  readonly what?: string | undefined;
  readonly cursor?: string | undefined;
  readonly countMax: number;
}

/** One change by people: who, what, to which task, and how it was before and after. */
export interface AuditRow {
  readonly requestId: string;
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly task: RunId | undefined;
  /** JSON text: via, reason, the revisions before and after, and what the change had to say. */
  readonly detail: string | undefined;
}

export interface AuditPage {
  readonly rows: readonly AuditRow[];
  readonly cursor: string | undefined;
}

/** Who led, since when: told by leaders themselves when they begin. */
export interface LeaderTerm {
  readonly pod: PodId;
  readonly name: string;
  readonly since: number;
}

export interface StoreReader extends HistoryParts {
  /** The store's clock. */
  now(): Promise<number>;
  page(query: PageQuery): Promise<Page>;
  count(query: Unpaged): Promise<Count>;
  histogram(query: HistogramQuery): Promise<Histogram>;
  errors(query: ErrorsQuery): Promise<ErrorGroups>;
  find(ids: readonly RunId[]): Promise<TaskRow[]>;
  histories(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Segment[]>;
  /** The last segment of each run, by its owner's epoch; one that is large comes without its records. */
  lastSegments(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Segment[]>;
  pods(): Promise<PodRow[]>;
  known(): Promise<KnownRoute[]>;
  inFlight(): Promise<RouteTally[]>;
  /** Each count up to `countMax`. `silentMs` judges pods that gave no silence of their own. */
  census(countMax: number, silentMs: number): Promise<Census>;
  audit(query: AuditQuery): Promise<AuditPage>;
  /** Newest first. */
  bulks(query: BulkQuery): Promise<BulkRow[]>;
  /** By name; removed ones only where they are asked for by it. */
  schedules(query: ScheduleQuery): Promise<ScheduleRow[]>;
  /** Which of these request ids are in the audit log. */
  noted(requestIds: readonly string[]): Promise<string[]>;
  leaderTerms(countMax: number): Promise<LeaderTerm[]>;
  queues(): Promise<QueueRow[]>;
  /** What is known of APIs, in the order of their names. */
  throttles(): Promise<ThrottleRow[]>;
  pausedMachines(): Promise<PausedMachine[]>;
  /** What may be in the way of a task besides itself: its turn, its queue, its machine. */
  gateOf(task: Gated): Promise<Gate>;
  /** Who follows this run, or did, the oldest first. */
  followers(run: RunId, countMax: number): Promise<Follower[]>;
  close(): Promise<void>;
}
