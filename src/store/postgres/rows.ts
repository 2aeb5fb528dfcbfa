/** Rows as the driver gives them, turned into what the store answers. */
import { decodeJson, type Json, type RunId } from '../../ground/index.ts';
import { boundedTime } from '../bounds.ts';
import type { Follows } from '../follow.ts';
import type { PodGroup } from '../notice.ts';
import { type PodGlimpse, type PodRow, STALLED_IN_REPORT } from '../pods.ts';
import type { AuditRow, TaskGlance } from '../reader.ts';
import type { InLine } from '../shares.ts';
import type { Head } from '../store.ts';
import type { ClaimedTask, Segment, TakenTask, TaskRow } from '../tasks.ts';
import { type ReportGlimpse, type ThrottleGlimpse, throttlesIn } from '../throttles.ts';
import type { Claim, Interruption, PodId, PodStatus, TaskStatus, WaitFor } from '../words.ts';
import type { Row } from './pool.ts';

function maybe<Value>(value: unknown): Value | undefined {
  return (value ?? undefined) as Value | undefined;
}

/** A time may be infinite in a row that is older than the constraint against it. */
function timeOf(value: unknown): number | undefined {
  return value === null ? undefined : boundedTime(value as number);
}

export function finite(value: unknown): number | undefined {
  return Number.isFinite(value) ? (value as number) : undefined;
}

export function groupOf(row: Row): PodGroup {
  return { routes: row['routes'] as string[], pods: row['pods'] as PodId[] };
}

export function claimOf(row: Row): Claim {
  return {
    task: row['task_id'] as RunId,
    generation: row['generation'] as number,
    epoch: row['claim_epoch'] as number,
  };
}

export function claimedTaskOf(row: Row): ClaimedTask {
  // Written out: a spread would make each of thousands a slow object of its own shape.
  return {
    task: row['task_id'] as RunId,
    generation: row['generation'] as number,
    epoch: row['claim_epoch'] as number,
    machine: row['machine'] as string,
    version: row['version'] as number,
    queue: row['queue'] as string,
    priority: row['priority'] as number,
    isLimited: row['is_limited'] as true | undefined,
    payload: maybe(row['payload']),
    oversizeBytes: maybe(row['oversize']),
    key: maybe(row['key']),
    keyGeneration: row['key_generation'] as number,
    carriesFrom: maybe(row['carry_from']),
    retryCount: row['retry_count'] as number,
    retriesMax: maybe(row['retries_max']),
    crashes: row['crashes'] as number,
    interruption: (row['interrupted'] ?? undefined) as Interruption | undefined,
    cutEpoch: maybe(row['cut_epoch']),
    lastSeq: row['last_seq'] as number,
    lastHash: maybe(row['last_hash']),
    control: maybe(row['control']),
    deadlineMs: finite(row['deadline_ms']),
    ageMs: finite(row['age_ms']),
    waitedMs: finite(row['waited_ms']),
    traceParent: maybe(row['trace_parent']),
    pinnedTo: maybe(row['pinned_to']),
    token: maybe(row['claim_token']),
  };
}

/** What a claim answers, as the rule of shares wants it. */
export function inLineOf(row: Row): InLine {
  return {
    id: row['task_id'] as string,
    route: row['route'] as string,
    queue: row['queue'] as string,
    priority: row['priority'] as number,
    runAt: row['ready_at'] as number,
  };
}

function followsOf(row: Row): Follows | undefined {
  const run = row['follows'];
  if (typeof run !== 'string') return undefined;
  return { run, on: row['follows_on'] === 'end' ? 'end' : 'success' };
}

export function takenTaskOf(row: Row): TakenTask {
  return {
    ...claimedTaskOf(row),
    previousEpoch: row['previous_epoch'] as number,
    status: row['status'] as TaskStatus,
    outcome: maybe(row['outcome']),
    error: maybe(row['error']),
  };
}

export function taskRowOf(row: Row): TaskRow {
  return { ...taskGlanceOf(row), payload: maybe(row['payload']), result: maybe(row['result']) };
}

/** A task in a list, without what is large. */
export function taskGlanceOf(row: Row): TaskGlance {
  return {
    id: row['task_id'] as RunId,
    generation: row['generation'] as number,
    machine: row['machine'] as string,
    version: row['version'] as number,
    queue: row['queue'] as string,
    priority: row['priority'] as number,
    runAt: timeOf(row['run_at'])!,
    status: row['status'] as TaskStatus,
    waitFor: maybe<WaitFor>(row['wait_for']),
    epoch: row['claim_epoch'] as number,
    acts: row['acts'] as number,
    claimedBy: maybe<PodId>(row['claimed_by']),
    retryCount: row['retry_count'] as number,
    retriesMax: maybe(row['retries_max']),
    crashes: row['crashes'] as number,
    claims: row['claims'] as number,
    control: maybe(row['control']),
    isPaused: row['paused'] as boolean,
    key: maybe(row['key']),
    serialKey: maybe(row['serial_key']),
    hasTurn: row['serial_held'] === true || undefined,
    follows: followsOf(row),
    pinnedTo: maybe(row['pinned_to']),
    deadlineAt: timeOf(row['deadline_at']),
    outcome: maybe(row['outcome']),
    error: maybe(row['error']),
    lastSeq: row['last_seq'] as number,
    lastHash: maybe(row['last_hash']),
    carriesFrom: maybe(row['carry_from']),
    interruption: maybe<Interruption>(row['interrupted']),
    createdAt: timeOf(row['created_at'])!,
    updatedAt: timeOf(row['last_update'])!,
    finishedAt: timeOf(row['finished_at']),
    discardedAt: timeOf(row['discarded_at']),
  };
}

export function auditRowOf(row: Row): AuditRow {
  return {
    requestId: row['id'] as string,
    at: timeOf(row['at_ms'])!,
    who: row['who'] as string,
    what: row['what'] as string,
    task: maybe<RunId>(row['task_id']),
    detail: maybe(row['detail']),
  };
}

export function segmentOf(row: Row): Segment {
  return {
    task: row['task_id'] as RunId,
    generation: row['generation'] as number,
    epoch: row['epoch'] as number,
    firstSeq: row['first_seq'] as number,
    lastSeq: row['last_seq'] as number,
    prevHash: row['prev_hash'] as string,
    lastHash: row['last_hash'] as string,
    state: row['state'] as string,
    events: row['events'] as string,
  };
}

export function headOf(row: Row): Head {
  return {
    task: row['task_id'] as RunId,
    generation: row['generation'] as number,
    epoch: row['epoch'] as number,
    lastSeq: row['last_seq'] as number,
    lastHash: row['last_hash'] as string,
  };
}

/** An array of glimpses as `json_agg` gives it: null where there is none. */
export function glimpsesOf(value: unknown): PodGlimpse[] {
  return ((value ?? []) as (PodGlimpse & { deadBy: string | null })[]).map((glimpse) => ({
    ...glimpse,
    silenceMs: maybe(glimpse.silenceMs),
    deadBy: maybe(glimpse.deadBy),
  }));
}

export function glimpsedThrottles(value: unknown): ThrottleGlimpse[] {
  return ((value ?? []) as ThrottleGlimpse[]).map((glimpse) => ({
    ...glimpse,
    // A server that took over may be behind: nothing was written later than now.
    ageMs: Math.max(0, glimpse.ageMs),
    state: maybe(glimpse.state),
    pinned: maybe(glimpse.pinned),
  }));
}

export function reportsOf(value: unknown): ReportGlimpse[] {
  const rows = (value ?? []) as (ReportGlimpse & { readonly report: string })[];
  return rows.map(({ report, pod, ageMs }) => {
    return { pod, ageMs: Math.max(0, ageMs), throttles: throttlesIn(report) };
  });
}

export function podRowOf(row: Row): PodRow {
  return {
    pod: row['pod_id'] as PodId,
    name: row['name'] as string,
    status: row['status'] as PodStatus,
    seq: row['beat_seq'] as number,
    silentMs: row['silent_for'] as number,
    silenceMs: maybe(row['silent_ms']),
    isStalled: (row['report'] as string).includes(STALLED_IN_REPORT),
    deadBy: maybe(row['dead_by']),
    journal: row['journal_id'] as string,
    boot: row['boot'] as number,
    lsn: row['journal_lsn'] as number,
    bornAt: row['born_at'] as number,
    beatAt: row['beat_at'] as number,
    desired: maybe(row['desired']),
    routes: row['routes'] as string[],
    report: reportOf(row['report'] as string),
    deadAt: maybe(row['dead_at']),
    claimCount: row['claim_count'] as number,
  };
}

/** A report is for people: one that cannot be read is shown as it is. */
function reportOf(text: string): Json {
  try {
    return decodeJson(text);
  } catch {
    return text;
  }
}
