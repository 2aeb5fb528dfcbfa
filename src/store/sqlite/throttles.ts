/** What the fleet knows of APIs, in SQLite. Each is one transaction's work. */
import { alreadyNote, answeredBefore } from '../audit.ts';
import {
  changesThrottle,
  noteOfThrottle,
  THROTTLES_TOLD_MAX,
  type ThrottleAnswer,
  type ThrottleChange,
  type ThrottleOrder,
  type ThrottleRow,
  type ThrottleWord,
} from '../throttles.ts';
import { note as putNote } from './act.ts';
import { selectLogged } from './audit-log.sql.ts';
import type { Tx } from './session.ts';
import * as sql from './throttle-state.sql.ts';

interface Raw {
  readonly api: string;
  readonly epoch: number;
  readonly age_ms: number;
  readonly state: string | null;
  readonly pinned: number | null;
  readonly pinned_by: string | null;
  readonly pinned_until: number | null;
}

const ROWS_MAX = 10_000;

export function publishThrottles(tx: Tx, words: readonly ThrottleWord[]): void {
  for (const { api, epoch, state } of words) {
    tx.run(sql.publishThrottle, { api, epoch, state, now: tx.now });
  }
}

/** Those that a heartbeat tells of. */
export function throttlesTold(tx: Tx): ThrottleRow[] {
  return tx.all<Raw>(sql.selectThrottles, { now: tx.now, count: THROTTLES_TOLD_MAX }).map(rowOf);
}

export function throttles(tx: Tx): ThrottleRow[] {
  const rows = tx.all<Raw>(sql.selectThrottles, { now: tx.now, count: ROWS_MAX }).map(rowOf);
  return rows.sort((a, b) => (a.api < b.api ? -1 : 1));
}

interface RawLogged {
  readonly who: string;
  readonly what: string;
  readonly detail: string | null;
}

export function changeThrottle(tx: Tx, change: ThrottleChange): ThrottleAnswer {
  const { order, who, isDryRun = false } = change;
  const note = noteOfThrottle(change);
  const logged = tx.get<RawLogged>(selectLogged, { id: note.requestId });
  const found = logged && { ...logged, task: undefined, detail: logged.detail ?? undefined };
  const answered = answeredBefore(note, found);
  if (answered) return answered;
  const row = tx.get<{ is_pinned: number; is_known: number }>(sql.selectOne, {
    api: order.api,
    now: tx.now,
  });
  const state = row && { isPinned: row.is_pinned === 1, isKnown: row.is_known === 1 };
  const kind = changesThrottle(order, state) ? 'done' : 'already';
  if (isDryRun) return { kind, isRepeated: false };
  putNote(tx, kind === 'done' ? note : alreadyNote(note));
  if (kind === 'done') write(tx, order, who);
  return { kind, isRepeated: false };
}

function write(tx: Tx, order: ThrottleOrder, who: string): void {
  const { api } = order;
  switch (order.what) {
    case 'pin': {
      const { cap, forMs } = order;
      const until = forMs === undefined ? null : tx.now + Math.ceil(forMs);
      tx.run(sql.pinThrottle, { api, cap, who, until, now: tx.now });
      break;
    }
    case 'unpin':
      tx.run(sql.unpinThrottle, { api });
      break;
    default:
      tx.run(sql.resetThrottle, { api, now: tx.now });
  }
}

function rowOf(raw: Raw): ThrottleRow {
  return {
    api: raw.api,
    epoch: raw.epoch,
    ageMs: Math.max(0, raw.age_ms),
    state: raw.state ?? undefined,
    pinned: raw.pinned ?? undefined,
    pinnedBy: raw.pinned_by ?? undefined,
    pinnedUntil: raw.pinned_until ?? undefined,
  };
}
