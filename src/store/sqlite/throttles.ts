/** What the fleet knows of APIs, in SQLite. Each is one transaction's work. */
import {
  THROTTLES_TOLD_MAX,
  type ThrottleOrder,
  type ThrottleRow,
  type ThrottleWord,
} from '../throttles.ts';
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

export function orderThrottle(tx: Tx, order: ThrottleOrder): boolean {
  const { api } = order;
  switch (order.what) {
    case 'pin': {
      const { cap, who, forMs } = order;
      const until = forMs === undefined ? null : tx.now + Math.ceil(forMs);
      return tx.run(sql.pinThrottle, { api, cap, who, until, now: tx.now }) === 1;
    }
    case 'unpin':
      return tx.run(sql.unpinThrottle, { api }) === 1;
    default:
      return tx.run(sql.resetThrottle, { api, now: tx.now }) === 1;
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
