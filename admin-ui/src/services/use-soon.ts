/** Many calls within a moment are one, at its end. */
import { useCallback, useEffect, useRef } from 'react';
import { after } from '../platform/clock.ts';

export interface Soon {
  (): void;
  /** What was to be done is not done. */
  cancel(): void;
}

export function useSoon(act: () => void, waitMs: number): Soon {
  const current = useRef(act);
  current.current = act;
  const undo = useRef<() => void>(undefined);
  const cancel = useCallback(() => {
    undo.current?.();
    undo.current = undefined;
  }, []);
  const soon = useCallback(() => {
    undo.current ??= after(waitMs, () => {
      undo.current = undefined;
      current.current();
    });
  }, [waitMs]);
  useEffect(() => cancel, [cancel]);
  return Object.assign(soon, { cancel });
}
