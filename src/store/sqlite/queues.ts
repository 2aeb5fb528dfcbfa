/**
 * Limits of queues, and queues and machines that stand still. Whoever claims has the lock on the file:
 * what it counts stays true until it has claimed.
 */
import { alreadyNote, answeredBefore, refuseLongNote } from '../audit.ts';
import {
  changesFlow,
  type FlowAnswer,
  type FlowChange,
  type FlowDeed,
  type FlowState,
  GATE_PODS_MAX,
  type Gate,
  type Gated,
  noteOfFlow,
  type PausedMachine,
  type QueueRow,
} from '../queues.ts';
import { note as putNote } from './act.ts';
import { selectLogged } from './audit-log.sql.ts';
import * as sql from './queues.sql.ts';
import type { Tx } from './session.ts';

interface RawLimit {
  readonly queue: string;
  readonly max_claimed: number | null;
  readonly paused: number;
}

/** How many more tasks of each queue one claim may take. */
export class Rooms {
  /** Queues of which none may be taken. */
  readonly closed: readonly string[];
  readonly #rooms = new Map<string, number>();
  readonly #paused: ReadonlySet<string>;

  constructor(tx: Tx) {
    for (const { queue, max_claimed, paused } of tx.all<RawLimit>(sql.selectLimits, {})) {
      if (paused === 1) this.#rooms.set(queue, 0);
      else if (max_claimed !== null) this.#rooms.set(queue, max_claimed - claimedIn(tx, queue));
    }
    this.closed = [...this.#rooms].filter(([, room]) => room <= 0).map(([queue]) => queue);
    const paused = tx.all<{ machine: string }>(sql.selectPauses, {});
    this.#paused = new Set(paused.map(({ machine }) => machine));
  }

  isWanted = (route: string): boolean => !this.#paused.has(route.replace(/@[^@]*$/, ''));

  left(queue: string): number {
    return this.#rooms.get(queue) ?? Number.POSITIVE_INFINITY;
  }

  /** False where there is none left. */
  take(queue: string): boolean {
    const room = this.left(queue);
    if (room <= 0) return false;
    this.#rooms.set(queue, room - 1);
    return true;
  }
}

function claimedIn(tx: Tx, queue: string): number {
  return tx.get<{ count: number }>(sql.countClaimed, { queue })!.count;
}

type RawQueue = RawLimit & {
  readonly pending: number;
  readonly waiting: number;
  readonly claimed: number;
  readonly due_at: number | null;
  readonly paused_by: string | null;
  readonly paused_at: number | null;
};

export function queues(tx: Tx): QueueRow[] {
  return tx.all<RawQueue>(sql.selectQueues, {}).map((row) => ({
    queue: row.queue,
    pending: row.pending,
    waiting: row.waiting,
    claimed: row.claimed,
    dueAt: row.due_at ?? undefined,
    limit: row.max_claimed ?? undefined,
    isPaused: row.paused === 1,
    pausedBy: row.paused_by ?? undefined,
    pausedAt: row.paused_at ?? undefined,
  }));
}

interface RawPause {
  readonly machine: string;
  readonly paused_by: string | null;
  readonly paused_at: number;
}

export function pausedMachines(tx: Tx): PausedMachine[] {
  return tx.all<RawPause>(sql.selectPausedMachines, {}).map(pausedOf);
}

function pausedOf({ machine, paused_by, paused_at }: RawPause): PausedMachine {
  return { machine, pausedBy: paused_by ?? undefined, pausedAt: paused_at };
}

export function gateOf(tx: Tx, { id: task, machine, queue, serialKey }: Gated): Gate {
  const row = tx.get<RawQueue>(sql.selectOneQueue, { queue });
  const paused = tx.get<RawPause>(sql.selectPausedMachine, { machine });
  const key = { queue, serial_key: serialKey ?? null, task };
  const holders = { queue, count: GATE_PODS_MAX };
  const isLimited = row !== undefined && row.max_claimed !== null;
  return {
    queue: row && {
      queue,
      claimed: claimedIn(tx, queue),
      limit: row.max_claimed ?? undefined,
      isPaused: row.paused === 1,
      pausedBy: row.paused_by ?? undefined,
      pausedAt: row.paused_at ?? undefined,
    },
    claimedBy: isLimited ? tx.all(sql.countByOwner, holders) : [],
    pausedMachine: paused && pausedOf(paused),
    holder: tx.get(sql.selectOtherHolder, key),
  };
}

interface RawLogged {
  readonly who: string;
  readonly what: string;
  readonly detail: string | null;
}

export function changeFlow(tx: Tx, change: FlowChange): FlowAnswer {
  const { who, deed, isDryRun = false } = change;
  const note = refuseLongNote(noteOfFlow(change));
  const logged = tx.get<RawLogged>(selectLogged, { id: note.requestId });
  const found = logged && { ...logged, task: undefined, detail: logged.detail ?? undefined };
  const answered = answeredBefore(note, found);
  if (answered) return answered;
  const kind = changesFlow(deed, stateOf(tx, deed)) ? 'done' : 'already';
  if (isDryRun) return { kind, isRepeated: false };
  putNote(tx, kind === 'done' ? note : alreadyNote(note));
  if (kind === 'done') write(tx, deed, who);
  return { kind, isRepeated: false };
}

function stateOf(tx: Tx, deed: FlowDeed): FlowState {
  if ('machine' in deed) {
    const { machine } = deed;
    return { limit: undefined, isPaused: tx.get(sql.selectMachine, { machine }) !== undefined };
  }
  const row = tx.get<RawLimit>(sql.selectQueue, { queue: deed.queue });
  return { limit: row?.max_claimed ?? undefined, isPaused: row?.paused === 1 };
}

function write(tx: Tx, deed: FlowDeed, who: string): void {
  const { now } = tx;
  switch (deed.what) {
    case 'queue.limit':
      tx.run(sql.setLimit, { queue: deed.queue, limit: deed.limit ?? null, now });
      break;
    case 'queue.pause':
      tx.run(sql.pauseQueue, { queue: deed.queue, who, now });
      break;
    case 'queue.resume':
      tx.run(sql.resumeQueue, { queue: deed.queue, now });
      break;
    case 'machine.pause':
      tx.run(sql.pauseMachine, { machine: deed.machine, who, now });
      break;
    case 'machine.resume':
      tx.run(sql.resumeMachine, { machine: deed.machine });
  }
  if ('queue' in deed) tx.run(sql.forgetQueue, { queue: deed.queue });
}
