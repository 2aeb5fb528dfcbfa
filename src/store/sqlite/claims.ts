/** Tasks given to pods: claimed from the heads of the queue, shown by their host, or found again. */
import type { RunId } from '../../ground/index.ts';
import { boundedSpan, PAYLOAD_BYTES_MAX } from '../bounds.ts';
import { rowRefused } from '../reasons.ts';
import { type Behind, type InLine, inShares, levelOf } from '../shares.ts';
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

/** So many queues of one priority are looked at by one claim, closed ones among them. */
const HOP_COUNT_MAX = 1_000;

interface Candidate {
  readonly task_id: RunId;
  readonly route: string;
  readonly queue: string;
  readonly priority: number;
  readonly run_at: number;
  /** A local run counts against no limit. */
  readonly is_pinned?: 0 | 1;
}

export function claim(tx: Tx, request: ClaimRequest): ClaimedTask[] {
  const { pod, token, payloadBytesMax = PAYLOAD_BYTES_MAX } = request;
  const count = Math.min(request.countMax, CLAIM_COUNT_MAX);
  if (count <= 0 || !isUp(tx, pod)) return [];
  lookAtArrivals(tx);
  const rooms = new Rooms(tx);
  const next = inShares(candidates(tx, request, count, rooms), inLine, request.behind)
    .filter(({ queue, is_pinned }) => is_pinned === 1 || rooms.take(queue))
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

/** As many of every head as are enough: who is next is among them. */
function candidates(tx: Tx, request: ClaimRequest, count: number, rooms: Rooms): Candidate[] {
  const { routes, journal, head } = request;
  const now = tx.now;
  const closed = JSON.stringify(rooms.closed);
  const found = [...new Set(routes)].filter(rooms.isWanted).flatMap((route) => {
    const values = { route, now, count };
    if (head === 'suspect') {
      return tx.all<Candidate>(sql.selectSuspects, { ...values, journal, closed });
    }
    const due = tx.all<Candidate>(sql.selectDue, { ...values, closed });
    return [...ready(tx, values, request.behind, rooms), ...due];
  });
  if (head === 'suspect') return found;
  const values = { journal, routes: JSON.stringify(routes), now, count };
  return [...found, ...tx.all<Candidate>(sql.selectPinned, values)];
}

interface Look {
  readonly route: string;
  readonly now: number;
  readonly count: number;
}

interface Level extends Look {
  readonly priority: number;
  readonly behind: string;
}

/** Of one priority after the other, until there is enough. */
function ready(tx: Tx, look: Look, all: Behind, rooms: Rooms): Candidate[] {
  const found: Candidate[] = [];
  const { route, count } = look;
  let level = tx.get<{ priority: number }>(sql.selectReadyLevel, { route, priority: null });
  while (level && found.length < count) {
    const behind = all?.get(levelOf(route, level.priority)) ?? '';
    found.push(...atLevel(tx, { ...look, ...level, behind }, rooms));
    level = tx.get(sql.selectReadyLevel, { route, ...level });
  }
  return found;
}

/** An equal share of each queue; where some have less than theirs, more of the others. */
function atLevel(tx: Tx, look: Level, rooms: Rooms): Candidate[] {
  const { count } = look;
  const queues = openQueues(tx, look, rooms);
  const share = Math.ceil(count / queues.length);
  const read = (queue: string, from: number, most: number) => {
    const limit = Math.min(most, rooms.left(queue) - from);
    return limit > 0
      ? tx.all<Candidate>(sql.selectReady, { ...look, queue, from, count: limit })
      : [];
  };
  const shares = queues.map((queue) => ({ queue, rows: read(queue, 0, share) }));
  const found = shares.flatMap(({ rows }) => rows);
  if (found.length >= count) return found;
  const longer = shares.filter(({ rows }) => rows.length === share);
  return [...found, ...longer.flatMap(({ queue }) => read(queue, share, count))];
}

interface Place {
  readonly queue: string;
  /** Of the first that is there. */
  readonly run_at: number;
}

/** From the one behind the last claim's round to it, where something is due; no more than are wanted. */
function openQueues(
  tx: Tx,
  { route, priority, behind, count, now }: Level,
  rooms: Rooms,
): string[] {
  const open: string[] = [];
  const next = (after: string) =>
    tx.get<Place>(sql.selectNextQueue, { route, priority, behind: after });
  let hasTurned = false;
  let place = next(behind);
  for (let hops = 0; hops < HOP_COUNT_MAX && open.length < count; hops += 1) {
    if (!place && !hasTurned) {
      hasTurned = true;
      place = tx.get<Place>(sql.selectFirstQueue, { route, priority });
    }
    if (!place || (hasTurned && place.queue > behind)) break;
    if (place.run_at <= now && rooms.left(place.queue) > 0) open.push(place.queue);
    place = next(place.queue);
  }
  return open;
}

function inLine({ task_id: id, route, queue, priority, run_at: runAt }: Candidate): InLine {
  return { id, route, queue, priority, runAt };
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
