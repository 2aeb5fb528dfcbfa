/**
 * The last act of a pod that has fenced itself: what it was asked to pause, and could not give back in
 * hand since the handler did not listen, stands still at once and not only after a sweep. Where records
 * are on this disk alone, the next process on it does this, once it has sent them.
 */
import type { PodId, Store } from '../store/index.ts';
import type { Holdings } from './holdings.ts';
import { tellPaused } from './tell-taken.ts';

export async function givePausedBack(
  store: Store,
  { id, holdings }: { readonly id: PodId; readonly holdings: Holdings },
): Promise<void> {
  const countMax = holdings.size;
  const isAny = [...holdings.all()].some(({ isPausing }) => isPausing);
  if (!isAny || holdings.unflushed > 0) return;
  const taking = { from: id, by: id, to: 'pool', crashed: 'none', spreadMs: 0 } as const;
  for (const { task } of await store.take({ ...taking, countMax, only: 'paused' })) {
    const held = holdings.get(task);
    if (held) holdings.remove(held);
    tellPaused(task);
  }
}
