/** What changes faster than anybody can look, every so often. */
import { useEffect, useRef, useState } from 'react';
import { useSoon } from './use-soon.ts';

export function useCalm<T>(value: T, everyMs: number): T {
  const [shown, setShown] = useState(value);
  const current = useRef(value);
  current.current = value;
  const soon = useSoon(() => setShown(current.current), everyMs);
  useEffect(() => {
    if (value !== shown) soon();
  }, [value, shown, soon]);
  return shown;
}
