/** What the fleet knows of APIs, as plain objects. */
import type { ThrottleOrder, ThrottleRow, ThrottleWord } from '../throttles.ts';
import type { MemoryTables } from './tables.ts';

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

export function throttles(tables: MemoryTables): ThrottleRow[] {
  const now = tables.now();
  return [...tables.throttles]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([api, { epoch, state, madeAt, pin }]) => {
      const standing = pin && (pin.until === undefined || pin.until > now) ? pin : undefined;
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

export function orderThrottle(tables: MemoryTables, order: ThrottleOrder): boolean {
  const { api } = order;
  const now = tables.now();
  const there = tables.throttles.get(api);
  switch (order.what) {
    case 'pin': {
      const { cap, who, forMs } = order;
      const pin = { cap, by: who, until: forMs === undefined ? undefined : now + forMs };
      const row = there ?? { epoch: 0, state: undefined, madeAt: now };
      tables.throttles.set(api, { ...row, pin });
      return true;
    }
    case 'unpin':
      if (!there?.pin) return false;
      tables.throttles.set(api, { ...there, pin: undefined });
      return true;
    default:
      if (!there) return false;
      tables.throttles.set(api, {
        ...there,
        epoch: there.epoch + 1,
        state: undefined,
        madeAt: now,
      });
      return true;
  }
}
