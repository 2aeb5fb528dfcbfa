/** Runs as the API tells them, from whichever place: where it is told from and of when it is included. */
import type { RunSummary } from '../../engine/index.ts';
import { isBlocked, type LiveRoutes, whyBlocked } from '../../fleet/index.ts';
import { isoTime } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import { revisionOf, type TaskRow } from '../../store/index.ts';
import type { Shown } from './mask.ts';

/** A run of this process's journal: as fresh as it gets. */
export function viewOfRun(run: RunSummary, now: number, shown: Shown): object {
  const { error, input, output, reason, progress } = run;
  return {
    ...run,
    createdAt: run.startedAt,
    reason: shown.text(reason),
    error: shown.error(error),
    input: shown.value(input),
    output: shown.value(output),
    progress: progress && { ...progress, note: shown.text(progress.note) },
    source: 'journal',
    freshAt: isoTime(now),
  };
}

/** A task as its row tells it; what its owner has done since then is in the owner's journal. */
export function viewOfTask(
  row: Omit<TaskRow, 'payload' | 'result'> & Partial<Pick<TaskRow, 'payload' | 'result'>>,
  shown: Shown,
  live?: LiveRoutes,
): object {
  return {
    id: row.id,
    machine: row.machine,
    version: row.version,
    status: row.status,
    outcome: row.outcome,
    generation: row.generation,
    revision: revisionOf(row),
    pod: row.claimedBy,
    queue: row.queue,
    priority: row.priority,
    key: row.key,
    serialKey: row.serialKey,
    follows: row.follows,
    retries: row.retryCount,
    crashes: row.crashes,
    claims: row.claims,
    waitsFor: row.waitFor,
    isPaused: row.isPaused,
    blocked: live && isBlocked(live, row as TaskRow) ? whyBlocked(live, row) : undefined,
    control: row.control,
    pinnedTo: row.pinnedTo,
    seq: row.lastSeq,
    createdAt: row.createdAt,
    dueAt: row.runAt,
    updatedAt: row.updatedAt,
    deadlineAt: row.deadlineAt,
    finishedAt: row.finishedAt,
    discardedAt: row.discardedAt,
    error: shown.error(jsonOf(row.error)),
    input: shown.value(jsonOf(row.payload)),
    output: shown.value(jsonOf(row.result)),
    source: 'store',
    freshAt: isoTime(row.updatedAt),
  };
}

/** What happened, when and where to; what it happened with is masked where payloads are. */
export function viewOfRecord(record: StoredRecord, shown: Shown): object {
  const { event } = record;
  const told: Record<string, unknown> = { ...event };
  for (const name of ['input', 'output', 'value'] as const) {
    if (name in told) told[name] = shown.value(told[name]);
  }
  if ('outputs' in told) told['outputs'] = shown.parts(told['outputs']);
  // Its outputs, each by its step.
  if ('carried' in told) told['carried'] = shown.parts(told['carried'], 2);
  if ('error' in told) told['error'] = shown.error(told['error']);
  for (const name of ['reason', 'note'] as const) {
    if (typeof told[name] === 'string') told[name] = shown.text(told[name]);
  }
  return { ...record, event: told };
}

/** A row that came by a plain INSERT may hold any text. */
export function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
