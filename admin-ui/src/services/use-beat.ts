/** Asks again every few seconds for as long as somebody looks on; never while they have paused. */
import { useEffect, useRef } from 'react';
import { after } from '../platform/clock.ts';
import { useFollow, useLiveState } from './live.tsx';

export function useBeat(everyMs: number, act: () => void): void {
  // So that the page says whether what is shown is as it is now.
  useFollow('pods', () => undefined);
  const isPaused = useLiveState() === 'paused';
  const current = useRef(act);
  current.current = act;
  const wasPaused = useRef(isPaused);
  useEffect(() => {
    if (isPaused) {
      wasPaused.current = true;
      return;
    }
    // Whatever happened meanwhile is wanted at once.
    if (wasPaused.current) current.current();
    wasPaused.current = false;
    let cancel: () => void = () => undefined;
    const arm = () => {
      cancel = after(everyMs, () => {
        // A tab that nobody sees asks nothing.
        if (document.visibilityState === 'visible') current.current();
        arm();
      });
    };
    arm();
    return () => cancel();
  }, [everyMs, isPaused]);
}
