/** What the fleet knows of APIs, as plain objects. */
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
import { type MemoryTables, refuseUnstorable } from './tables.ts';

export interface ThrottleRecord {
  epoch: number;
  state: string | undefined;
  madeAt: number;
  pin:
    | { readonly cap: number; readonly by: string; readonly until: number | undefined }
    | undefined;
}

export function publishThrottles(tables: MemoryTables, words: readonly ThrottleWord[]): void {
  for (const { api, epoch, state } of words) {
    const there = tables.throttles.get(api);
    if (there && there.epoch !== epoch) continue;
    const written = { epoch: epoch + 1, state, madeAt: tables.now(), pin: there?.pin };
    tables.throttles.set(api, written);
  }
}

/** A pin whose time is over is none. */
export function standingPin(pin: ThrottleRecord['pin'], now: number): ThrottleRecord['pin'] {
  return pin && (pin.until === undefined || pin.until > now) ? pin : undefined;
}

export function throttles(tables: MemoryTables): ThrottleRow[] {
  const now = tables.now();
  return [...tables.throttles]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([api, { epoch, state, madeAt, pin }]) => {
      const standing = standingPin(pin, now);
      return {
        api,
        epoch,
        ageMs: Math.max(0, now - madeAt),
        state,
        pinned: standing?.cap,
        pinnedBy: standing?.by,
        pinnedUntil: standing?.until,
      };
    });
}

/** Those that a heartbeat tells of. */
export function throttlesTold(tables: MemoryTables): ThrottleRow[] {
  const rows = throttles(tables).sort((a, b) => a.ageMs - b.ageMs);
  return rows.slice(0, THROTTLES_TOLD_MAX);
}

export function changeThrottle(tables: MemoryTables, change: ThrottleChange): ThrottleAnswer {
  const { order, who, isDryRun = false } = change;
  const note = noteOfThrottle(change);
  refuseUnstorable(note.requestId, who, order.api, change.via, change.reason);
  const logged = tables.audit.get(note.requestId);
  const answered = answeredBefore(note, logged && { ...logged, task: logged.taskId });
  if (answered) return answered;
  const row = tables.throttles.get(order.api);
  const isPinned = standingPin(row?.pin, tables.now()) !== undefined;
  const state = row && { isPinned, isKnown: row.state !== undefined };
  const kind = changesThrottle(order, state) ? 'done' : 'already';
  if (isDryRun) return { kind, isRepeated: false };
  putNote(tables, kind === 'done' ? note : alreadyNote(note));
  if (kind === 'done') tables.throttles.set(order.api, changed(order, row, who, tables.now()));
  return { kind, isRepeated: false };
}

function changed(
  order: ThrottleOrder,
  there: ThrottleRecord | undefined,
  who: string,
  now: number,
): ThrottleRecord {
  const row = there ?? { epoch: 0, state: undefined, madeAt: now, pin: undefined };
  switch (order.what) {
    case 'pin': {
      const { cap, forMs } = order;
      const until = forMs === undefined ? undefined : now + forMs;
      return { ...row, pin: { cap, by: who, until } };
    }
    case 'unpin':
      return { ...row, pin: undefined };
    default:
      return { ...row, epoch: row.epoch + 1, state: undefined, madeAt: now };
  }
}
