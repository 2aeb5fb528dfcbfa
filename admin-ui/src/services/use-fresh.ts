/** Asks again while somebody looks on: whenever runs change, and never while it is paused. */
import { useEffect } from 'react';
import { useSecond } from '../components/time.tsx';
import { useFollow, useLiveState } from './live.tsx';
import { useAskSoon } from './use-ask-soon.ts';

/** However much happens, so often it is asked what has become of it. */
const LOOK_MS = 1_000;
const EVERY_S = 2;

interface FreshOptions {
  /** Something goes on that the stream may not tell of. */
  readonly isMoving?: boolean;
  /** Longer, where the answer costs more. */
  readonly lookMs?: number;
}

export function useFresh(
  reload: () => void,
  { isMoving = false, lookMs = LOOK_MS }: FreshOptions = {},
): void {
  const isLive = useLiveState() !== 'paused';
  const second = useSecond();
  const soon = useAskSoon(reload, lookMs);
  useFollow('runs', ({ event, data }) => {
    const isBehind = event === 'reset' || (event === 'hello' && data.isResumed === false);
    if (event === 'runs' || isBehind) soon();
  });
  const beat = isLive && isMoving ? Math.floor(second / EVERY_S) : 0;
  useEffect(() => {
    if (beat !== 0) soon();
  }, [beat, soon]);
}
