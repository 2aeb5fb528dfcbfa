/** What people look at and change: one task at a time, always by what they have seen of it. */
import { isoTime, type RunId } from '../../ground/index.ts';
import { cancelledBecause } from '../reasons.ts';
import type { ChangeAnswer, Due, RouteTally, TaskFilter, TaskRow } from '../tasks.ts';
import { hasToldItsEnd, keepSegment, nextSeq, redrivenAt } from './archive.ts';
import { instantOf } from './due.ts';
import { type RawTask, taskRow } from './rows.ts';
import type { Tx } from './session.ts';
import { hasEnded } from './settle.ts';
import * as sql from './tasks.sql.ts';

const LIST_COUNT_MAX = 1_000;

export function find(tx: Tx, ids: readonly RunId[]): TaskRow[] {
  return ids.flatMap((task) => {
    const row = tx.get<RawTask>(sql.selectTask, { task });
    return row ? [taskRow(row)] : [];
  });
}

export function list(tx: Tx, filter: TaskFilter): TaskRow[] {
  const before = filter.before;
  const last = before === undefined ? undefined : tx.get<RawTask>(sql.selectTask, { task: before });
  if (before !== undefined && !last) return [];
  const values = {
    created_at: last?.created_at ?? Number.MAX_SAFE_INTEGER,
    task: last?.task_id ?? '',
    status: filter.status ?? null,
    machine: filter.machine ?? null,
    claimed_by: filter.claimedBy ?? null,
    in_flight: filter.isInFlight ? 1 : 0,
    count: Math.max(0, Math.min(filter.countMax, LIST_COUNT_MAX)),
  };
  const byOwner = filter.claimedBy === undefined ? sql.selectPage : sql.selectPageOfPod;
  const page = filter.isDeadLetter ? sql.selectPageOfDeadLetters : byOwner;
  return tx.all<RawTask>(page, values).map(taskRow);
}

export function inFlight(tx: Tx, routes?: readonly string[]): RouteTally[] {
  if (routes === undefined) return tx.all<RouteTally>(sql.countInFlight);
  const wanted = [...new Set(routes)].sort();
  return wanted.flatMap((route) => tx.all<RouteTally>(sql.countClaimable, { route }));
}

export function cancel(tx: Tx, task: RunId, reason: string): ChangeAnswer {
  const row = tx.get<RawTask>(sql.selectTask, { task });
  if (!row) return 'unknown';
  if (row.status === 'claimed') {
    tx.run(sql.requestCancel, { task, reason, now: tx.now });
    return 'requested';
  }
  if (hasEnded(row)) return row.status === 'cancelled' ? 'done' : 'tooLate';
  if (hasToldItsEnd(tx, row)) return 'tooLate';
  const error = cancelledBecause(reason);
  const values = { task, status: 'cancelled', outcome: 'cancelled', error, now: tx.now };
  tx.get<RawTask>(sql.endTask, values);
  return 'done';
}

/** Waits that end by something else than time are not people's to shorten. */
const TIMED_WAITS: readonly (string | null)[] = [null, 'time', 'retry', 'sleep'];

export function reschedule(tx: Tx, task: RunId, due: Due): ChangeAnswer {
  const row = tx.get<RawTask>(sql.selectTask, { task });
  if (!row) return 'unknown';
  const isOpen = row.status === 'pending' || row.status === 'waiting';
  if (!isOpen || !TIMED_WAITS.includes(row.wait_for)) return 'tooLate';
  const runAt = instantOf(due, tx.now);
  const isLater = runAt > tx.now;
  const waitFor = isLater ? (row.wait_for ?? 'time') : null;
  const status = isLater ? 'waiting' : 'pending';
  tx.run(sql.rescheduleTask, { task, status, wait_for: waitFor, run_at: runAt, now: tx.now });
  return 'done';
}

export function redrive(
  tx: Tx,
  task: RunId,
  seen: { readonly generation: number },
  { isFresh }: { readonly isFresh: boolean },
): number | undefined {
  const row = tx.get<RawTask>(sql.selectTask, { task });
  if (!row || row.generation !== seen.generation || !hasEnded(row)) return undefined;
  // A run of a host is in that host's journal, and has ended there.
  if (row.pinned_to !== null) return undefined;
  keepOutcome(tx, row);
  const begunAt = redrivenAt(tx, { task, generation: row.generation - 1 }) ?? row.created_at;
  const seenNow = { task, generation: row.generation, begun_at: begunAt };
  const values = { ...seenNow, is_fresh: isFresh ? 1 : 0, now: tx.now };
  return tx.get<{ generation: number }>(sql.redriveTask, values)?.generation;
}

/** The row forgets how it ended; the history of the old generation does not. */
function keepOutcome(tx: Tx, row: RawTask): void {
  const { status, outcome, error } = row;
  const run = { task: row.task_id, generation: row.generation, epoch: row.claim_epoch };
  const hash = row.last_hash ?? '';
  // Where records were archived that the settle did not speak of, it comes after those too.
  const seq = nextSeq(tx, run, row.last_seq);
  const finishedAt = isoTime(row.finished_at ?? tx.now);
  const event = { type: 'OUTCOME', status, outcome, error, finishedAt };
  keepSegment(tx, {
    ...run,
    firstSeq: seq,
    lastSeq: seq,
    prevHash: hash,
    lastHash: hash,
    state: 'outcome',
    events: JSON.stringify([event]),
  });
}

export function discard(tx: Tx, task: RunId, seen: { readonly generation: number }): boolean {
  const values = { task, generation: seen.generation, now: tx.now };
  return tx.run(sql.discardTask, values) === 1;
}
