/**
 * Tasks on their way out of a pod's hands. What a task becomes is decided from its row, which nobody
 * can change meanwhile, and written only while the claim stands, with the rest of its history.
 */
import { assertNever } from '../../ground/index.ts';
import { StoreRefusedError } from '../errors.ts';
import { cancelledBecause, RETRIES_SPENT } from '../reasons.ts';
import type { SettleAnswer, Settlement } from '../tasks.ts';
import { END_STATUSES, type PodId, type TaskStatus } from '../words.ts';
import { keepSegment } from './archive.ts';
import { later } from './due.ts';
import { letFollowersGo } from './followers.ts';
import { selectQueue } from './queues.sql.ts';
import type { RawTask } from './rows.ts';
import { eachRow, type Tx, type Values } from './session.ts';
import { selectForSettle, settleTask } from './tasks.sql.ts';
import { passOn } from './turns.ts';

export interface Changed {
  /** What the task became; undefined where nothing was written. */
  readonly status: TaskStatus | undefined;
  /** The turn, or its place in a queue with a limit, may go to another task, which is ready. */
  readonly isPassedOn?: boolean;
}

export interface Settled extends Changed {
  readonly answer: SettleAnswer;
}

export function settle(tx: Tx, pod: PodId, settlements: readonly Settlement[]): Settled[] {
  return settlements.map((settlement): Settled => {
    const { task } = settlement;
    const done = eachRow(tx, () => settleOne(tx, pod, settlement));
    if ('answer' in done) return done.answer;
    return { answer: { task, kind: 'refused', reason: done.refused }, status: undefined };
  });
}

function settleOne(tx: Tx, pod: PodId, settlement: Settlement): Settled {
  const { task, generation, epoch, tail } = settlement;
  const row = tx.get<Leaving>(selectForSettle, { task });
  if (!row) return { answer: { task, kind: 'lost' }, status: undefined };
  const next = becomes(row, settlement, tx.now);
  const stood = tx.run(settleTask, {
    ...next,
    pod,
    task,
    generation,
    epoch,
    retries_add: settlement.retriesAdd,
    untouched: 'isUntouched' in settlement && settlement.isUntouched ? 1 : 0,
    has_completed_step: settlement.hasCompletedStep ? 1 : 0,
    last_seq: settlement.lastSeq,
    last_hash: settlement.lastHash,
    version: settlement.version ?? null,
    now: tx.now,
  });
  if (!stood) {
    const isDone = row.generation === generation && row.claim_epoch === epoch && hasEnded(row);
    return { answer: { task, kind: isDone ? 'done' : 'lost' }, status: undefined };
  }
  const fork = tail && keepSegment(tx, tail);
  if (fork !== undefined) throw new StoreRefusedError(`the history has forked at ${fork}`);
  const { queue, serial_key } = row;
  const servedUntil = row.run_at + tx.now - (row.claimed_at ?? tx.now);
  const successor =
    serial_key !== null && hasEnded(next)
      ? passOn(tx, { queue, serial_key }, servedUntil)
      : undefined;
  const isFollowed = hasEnded(next) && letFollowersGo(tx, task);
  const isPassedOn =
    successor !== undefined || isFollowed || tx.get(selectQueue, { queue }) !== undefined;
  return { answer: { task, kind: 'stood' }, status: next.status, isPassedOn };
}

export function hasEnded({ status }: { readonly status: TaskStatus }): boolean {
  return (END_STATUSES as readonly TaskStatus[]).includes(status);
}

type Leaving = Pick<
  RawTask,
  | 'status'
  | 'generation'
  | 'claim_epoch'
  | 'run_at'
  | 'deadline_at'
  | 'retry_count'
  | 'retries_max'
  | 'control'
  | 'control_reason'
  | 'queue'
  | 'serial_key'
  | 'claimed_at'
>;

type Becoming = Values & { readonly status: TaskStatus };

function becomes(row: Leaving, settlement: Settlement, now: number): Becoming {
  const open = {
    wait_for: null,
    run_at: row.run_at,
    outcome: null,
    result: null,
    error: null,
    finished_at: null,
  };
  const ended = (status: TaskStatus, outcome: string, error: string | null) => ({
    ...open,
    status,
    outcome,
    error,
    finished_at: now,
  });
  switch (settlement.to) {
    case 'completed':
    case 'failed':
    case 'cancelled': {
      const { to, outcome, result, error } = settlement;
      return { ...ended(to, outcome, error ?? null), result: result ?? null };
    }
    case 'pending':
      if (row.control === 'cancel') return cancelledWith(row, ended);
      return { ...open, status: 'pending' };
    case 'waiting': {
      if (row.control === 'cancel') return cancelledWith(row, ended);
      const { waitFor, afterMs, retriesAdd } = settlement;
      const isSpent = row.retries_max !== null && row.retry_count + retriesAdd > row.retries_max;
      if (isSpent && waitFor === 'retry') return ended('failed', 'exhausted', RETRIES_SPENT);
      const runAt = Math.min(later(now, afterMs), row.deadline_at ?? Number.POSITIVE_INFINITY);
      return { ...open, status: 'waiting', wait_for: waitFor, run_at: runAt };
    }
    default:
      return assertNever(settlement);
  }
}

/** Its owner lets go of it between two phases: the moment a request to cancel has waited for. */
function cancelledWith(
  row: Leaving,
  ended: (status: TaskStatus, outcome: string, error: string) => Becoming,
): Becoming {
  return ended(
    'cancelled',
    'cancelled',
    cancelledBecause(row.control_reason ?? 'it was asked for'),
  );
}
