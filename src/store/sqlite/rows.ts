/** Rows as SQLite gives them, and as the rest of FleetQ sees them. */
import { decodeJson, type RunId } from '../../ground/index.ts';
import type { FollowsOn } from '../follow.ts';
import { type PodGlimpse, type PodRow, STALLED_IN_REPORT } from '../pods.ts';
import type { TaskGlance } from '../reader.ts';
import type { ClaimedTask, Segment, TakenTask, TaskRow } from '../tasks.ts';
import type { Interruption, PodId, PodStatus, TaskStatus, WaitFor } from '../words.ts';

export interface RawTask {
  readonly task_id: RunId;
  readonly generation: number;
  readonly machine: string;
  readonly version: number;
  readonly queue: string;
  readonly priority: number;
  readonly run_at: number;
  readonly status: TaskStatus;
  readonly wait_for: WaitFor | null;
  readonly claim_epoch: number;
  readonly acts: number;
  readonly claimed_by: PodId | null;
  readonly claimed_at: number | null;
  readonly claim_token: string | null;
  readonly retry_count: number;
  readonly retries_max: number | null;
  readonly crashes: number;
  readonly interrupted: Interruption | null;
  readonly cut_epoch: number | null;
  readonly claims: number;
  readonly control: 'cancel' | 'pause' | null;
  readonly control_reason: string | null;
  readonly paused: number;
  readonly serial_key: string | null;
  readonly serial_held: number;
  readonly follows: string | null;
  readonly follows_on: FollowsOn | null;
  readonly key: string | null;
  readonly key_until: number | null;
  readonly key_generation: number;
  readonly carry_from: number | null;
  readonly pinned_to: string | null;
  readonly deadline_at: number | null;
  readonly payload: string | null;
  readonly outcome: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly last_seq: number;
  readonly last_hash: string | null;
  readonly trace_parent: string | null;
  readonly created_at: number;
  readonly last_update: number;
  readonly finished_at: number | null;
  readonly discarded_at: number | null;
}

/** The columns that an owner gets to see. */
export type RawClaim = Pick<
  RawTask,
  | 'task_id'
  | 'generation'
  | 'claim_epoch'
  | 'machine'
  | 'version'
  | 'queue'
  | 'priority'
  | 'payload'
  | 'key'
  | 'key_generation'
  | 'carry_from'
  | 'retry_count'
  | 'retries_max'
  | 'crashes'
  | 'interrupted'
  | 'cut_epoch'
  | 'last_seq'
  | 'last_hash'
  | 'control'
  | 'deadline_at'
  | 'created_at'
  | 'run_at'
  | 'claimed_at'
  | 'trace_parent'
  | 'pinned_to'
  | 'claim_token'
> & { readonly oversize?: number | null; readonly recorded_at?: number | null };

export function claimedTask(row: RawClaim, now: number): ClaimedTask {
  return {
    task: row.task_id,
    generation: row.generation,
    epoch: row.claim_epoch,
    machine: row.machine,
    version: row.version,
    queue: row.queue,
    priority: row.priority,
    payload: row.payload ?? undefined,
    oversizeBytes: row.oversize ?? undefined,
    key: row.key ?? undefined,
    keyGeneration: row.key_generation,
    carriesFrom: row.carry_from ?? undefined,
    retryCount: row.retry_count,
    retriesMax: row.retries_max ?? undefined,
    crashes: row.crashes,
    interruption: row.interrupted ?? undefined,
    cutEpoch: row.cut_epoch ?? undefined,
    lastSeq: row.last_seq,
    lastHash: row.last_hash ?? undefined,
    control: row.control ?? undefined,
    deadlineMs: row.deadline_at === null ? undefined : row.deadline_at - now,
    ageMs: row.deadline_at === null ? ageOf(row, now) : undefined,
    waitedMs: row.claimed_at === null ? undefined : Math.max(0, row.claimed_at - row.run_at),
    traceParent: row.trace_parent ?? undefined,
    pinnedTo: row.pinned_to ?? undefined,
    token: row.claim_token ?? undefined,
  };
}

function ageOf({ recorded_at: recordedAt, created_at, run_at }: RawClaim, now: number): number {
  return Math.max(0, now - (recordedAt ?? Math.max(created_at, run_at)));
}

/** `bytesMax`: a larger payload is not handed over; undefined where none is. */
export function takenTask(
  row: RawClaim & RawTask,
  before: RawTask,
  now: number,
  bytesMax: number | undefined,
): TakenTask {
  const bytes = Buffer.byteLength(row.payload ?? '');
  const isOversize = bytesMax !== undefined && bytes > bytesMax;
  return {
    ...claimedTask(row, now),
    payload: bytesMax === undefined || isOversize ? undefined : (row.payload ?? undefined),
    oversizeBytes: isOversize ? bytes : undefined,
    // Requeued, it is due later: that makes it no younger.
    ageMs: row.deadline_at === null ? ageOf({ ...row, run_at: before.run_at }, now) : undefined,
    previousEpoch: before.claim_epoch,
    status: row.status,
    outcome: row.outcome ?? undefined,
    error: row.error ?? undefined,
  };
}

export function taskRow(row: RawTask): TaskRow {
  return {
    ...taskGlance(row),
    payload: row.payload ?? undefined,
    result: row.result ?? undefined,
  };
}

/** The columns of a task in a list, without what is large. */
export type RawGlance = Omit<RawTask, 'payload' | 'result'>;

export function taskGlance(row: RawGlance): TaskGlance {
  return {
    id: row.task_id,
    generation: row.generation,
    machine: row.machine,
    version: row.version,
    queue: row.queue,
    priority: row.priority,
    runAt: row.run_at,
    status: row.status,
    waitFor: row.wait_for ?? undefined,
    epoch: row.claim_epoch,
    acts: row.acts,
    claimedBy: row.claimed_by ?? undefined,
    retryCount: row.retry_count,
    retriesMax: row.retries_max ?? undefined,
    crashes: row.crashes,
    claims: row.claims,
    control: row.control ?? undefined,
    isPaused: row.paused === 1,
    key: row.key ?? undefined,
    serialKey: row.serial_key ?? undefined,
    hasTurn: row.serial_held === 1 || undefined,
    follows:
      row.follows === null ? undefined : { run: row.follows, on: row.follows_on ?? 'success' },
    pinnedTo: row.pinned_to ?? undefined,
    deadlineAt: row.deadline_at ?? undefined,
    outcome: row.outcome ?? undefined,
    error: row.error ?? undefined,
    lastSeq: row.last_seq,
    lastHash: row.last_hash ?? undefined,
    carriesFrom: row.carry_from ?? undefined,
    interruption: row.interrupted ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.last_update,
    finishedAt: row.finished_at ?? undefined,
    discardedAt: row.discarded_at ?? undefined,
  };
}

export interface RawPod {
  readonly pod_id: PodId;
  readonly name: string;
  readonly journal_id: string;
  readonly boot: number;
  readonly birth_timestamp: number;
  readonly last_heartbeat: number;
  readonly beat_seq: number;
  readonly beat_nonce: string;
  readonly status: PodStatus;
  readonly desired: 'drain' | 'pause' | null;
  readonly routes: string;
  readonly journal_lsn: number;
  readonly report: string;
  readonly silent_ms: number | null;
  readonly dead_at: number | null;
  readonly dead_by: string | null;
}

export function podGlimpse(row: RawPod, now: number): PodGlimpse {
  return {
    pod: row.pod_id,
    name: row.name,
    status: row.status,
    seq: row.beat_seq,
    silentMs: now - row.last_heartbeat,
    silenceMs: row.silent_ms ?? undefined,
    isStalled: row.report.includes(STALLED_IN_REPORT),
    deadBy: row.dead_by ?? undefined,
  };
}

export function podRow(row: RawPod & { readonly claim_count: number }, now: number): PodRow {
  return {
    ...podGlimpse(row, now),
    journal: row.journal_id,
    boot: row.boot,
    lsn: row.journal_lsn,
    bornAt: row.birth_timestamp,
    beatAt: row.last_heartbeat,
    desired: row.desired ?? undefined,
    routes: decodeJson(row.routes) as readonly string[],
    report: decodeJson(row.report),
    deadAt: row.dead_at ?? undefined,
    claimCount: row.claim_count,
  };
}

export interface RawSegment {
  readonly task_id: RunId;
  readonly generation: number;
  readonly epoch: number;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly prev_hash: string;
  readonly last_hash: string;
  readonly state: string;
  readonly events: string;
}

export function segmentOf(row: RawSegment): Segment {
  return {
    task: row.task_id,
    generation: row.generation,
    epoch: row.epoch,
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    prevHash: row.prev_hash,
    lastHash: row.last_hash,
    state: row.state,
    events: row.events,
  };
}
