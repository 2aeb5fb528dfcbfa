/** Asks the server soon, once for many calls; never once it is paused, not even what was to be asked soon. */
import { useEffect } from 'react';
import { useLiveState } from './live.tsx';
import { useSoon } from './use-soon.ts';

export function useAskSoon(ask: () => void, waitMs: number): () => void {
  const isLive = useLiveState() !== 'paused';
  const soon = useSoon(ask, waitMs);
  useEffect(() => {
    if (!isLive) soon.cancel();
  }, [isLive, soon]);
  return soon;
}
