/** Asks again while somebody looks on: whenever runs change, and never while it is paused. */
import { useCallback, useEffect, useRef } from 'react';
import { useSecond } from '../components/time.tsx';
import { after } from '../platform/clock.ts';
import { useFollow, useLiveState } from './live.tsx';

/** However much happens, so often it is asked what has become of it. */
const LOOK_MS = 1_000;
const EVERY_S = 2;

/** `isMoving`: something goes on that the stream may not tell of. */
export function useFresh(reload: () => void, isMoving: boolean): void {
  const isLive = useLiveState() !== 'paused';
  const second = useSecond();
  const current = useRef(reload);
  current.current = reload;
  const cancel = useRef<() => void>(undefined);
  const soon = useCallback(() => {
    cancel.current ??= after(LOOK_MS, () => {
      cancel.current = undefined;
      current.current();
    });
  }, []);
  useEffect(() => {
    if (!isLive) cancel.current?.();
    if (!isLive) cancel.current = undefined;
  }, [isLive]);
  useEffect(() => () => cancel.current?.(), []);
  useFollow('runs', ({ event, data }) => {
    const isBehind = event === 'reset' || (event === 'hello' && data.isResumed === false);
    if (event === 'runs' || isBehind) soon();
  });
  const beat = isLive && isMoving ? Math.floor(second / EVERY_S) : 0;
  useEffect(() => {
    if (beat !== 0) soon();
  }, [beat, soon]);
}
