/** Tasks given to pods: claimed from the heads of the queue, shown by their host, or found again. */
import type { RunId } from '../../ground/index.ts';
import { boundedSpan, PAYLOAD_BYTES_MAX } from '../bounds.ts';
import { rowRefused } from '../reasons.ts';
import type { MirrorAnswer } from '../store.ts';
import type { ClaimedTask, ClaimRequest, MirroredRun } from '../tasks.ts';
import type { PodId } from '../words.ts';
import * as sql from './claims.sql.ts';
import { letFollowersGo } from './followers.ts';
import { isUp } from './pods.ts';
import { Rooms } from './queues.ts';
import { claimedTask, type RawClaim, type RawTask } from './rows.ts';
import { attempt, type Tx } from './session.ts';
import { endTask, selectTask } from './tasks.sql.ts';
import { lookAtArrivals, passOnAfter } from './turns.ts';

/** More is never claimed, or read, at once, whatever was asked for. */
export const CLAIM_COUNT_MAX = 1_000;

interface Candidate {
  readonly task_id: RunId;
  /** Whose limit it counts against; a local run counts against none. */
  readonly queue: string | null;
  readonly priority: number;
  readonly run_at: number;
}

export function claim(tx: Tx, request: ClaimRequest): ClaimedTask[] {
  const { pod, token, payloadBytesMax = PAYLOAD_BYTES_MAX } = request;
  const count = Math.min(request.countMax, CLAIM_COUNT_MAX);
  if (count <= 0 || !isUp(tx, pod)) return [];
  lookAtArrivals(tx);
  const rooms = new Rooms(tx);
  const next = candidates(tx, request, count, rooms)
    .sort(byUrgency)
    .filter(({ queue }) => rooms.take(queue))
    .slice(0, count);
  return next.flatMap(({ task_id: task }) => {
    const values = { task, pod, token, bytes_max: payloadBytesMax, now: tx.now };
    const done = attempt(() => tx.get<RawClaim>(sql.claimTask, values));
    if ('refused' in done) {
      // Nobody can ever claim it; the others are claimed all the same.
      const error = rowRefused(done.refused);
      attempt(() =>
        tx.get(endTask, { task, status: 'failed', outcome: 'aborted', error, now: tx.now }),
      );
      passOnAfter(tx, task);
      letFollowersGo(tx, task);
      return [];
    }
    return done.answer ? [claimedTask(done.answer, tx.now)] : [];
  });
}

/** Up to `count` of every head: whichever is most urgent is among them. */
function candidates(tx: Tx, request: ClaimRequest, count: number, rooms: Rooms): Candidate[] {
  const { routes, journal, head } = request;
  const now = tx.now;
  const closed = JSON.stringify(rooms.closed);
  const found = [...new Set(routes)].filter(rooms.isWanted).flatMap((route) => {
    const values = { route, now, count };
    if (head === 'suspect') {
      return tx.all<Candidate>(sql.selectSuspects, { ...values, journal, closed });
    }
    const open = tx
      .all<{ queue: string }>(sql.selectReadyQueues, { route })
      .filter(({ queue }) => !rooms.closed.includes(queue));
    return [
      ...open.flatMap(({ queue }) => tx.all<Candidate>(sql.selectReady, { ...values, queue })),
      ...tx.all<Candidate>(sql.selectDue, { ...values, closed }),
    ];
  });
  if (head === 'suspect') return found;
  const values = { journal, routes: JSON.stringify(routes), now, count };
  return [...found, ...tx.all<Candidate>(sql.selectPinned, values)];
}

function byUrgency(one: Candidate, other: Candidate): number {
  return (
    other.priority - one.priority ||
    one.run_at - other.run_at ||
    (one.task_id < other.task_id ? -1 : 1)
  );
}

export function held(
  tx: Tx,
  pod: PodId,
  after: string,
  { countMax, bytesMax }: { readonly countMax: number; readonly bytesMax: number },
): ClaimedTask[] {
  const count = Math.max(0, Math.min(countMax, CLAIM_COUNT_MAX));
  const rows = tx.all<RawClaim>(sql.selectHeld, { pod, after, count, bytes_max: bytesMax });
  return rows.map((row) => claimedTask(row, tx.now));
}

export function mirror(tx: Tx, pod: PodId, runs: readonly MirroredRun[]): MirrorAnswer[] {
  return runs.map((run): MirrorAnswer => {
    const { id: task, machine, version, payload, journal, deadlineMs } = run;
    const startedAt = tx.now - Math.round(boundedSpan(run.startedAgoMs));
    const isNew = tx.run(sql.insertMirrored, {
      task,
      machine,
      version,
      payload,
      journal,
      pod,
      started_at: startedAt,
      deadline_at:
        deadlineMs === undefined ? null : startedAt + Math.round(boundedSpan(deadlineMs)),
      now: tx.now,
    });
    if (isNew) return { kind: 'held', task, generation: 1, epoch: 1 };
    const row = tx.get<RawTask>(selectTask, { task });
    if (row?.claimed_by !== pod || row.pinned_to !== journal) return { kind: 'foreign', task };
    return { kind: 'held', task, generation: row.generation, epoch: row.claim_epoch };
  });
}

export function hasSuspects(tx: Tx, routes: readonly string[]): boolean {
  const of = { journal: '', now: tx.now, count: 1, closed: '[]' };
  return routes.some((route) => tx.all(sql.selectSuspects, { ...of, route }).length > 0);
}
