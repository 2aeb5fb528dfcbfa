/** Which rows of a long list are near enough to be seen. All rows have one height. */
import { type RefObject, useCallback, useEffect, useState } from 'react';

export interface Window {
  readonly from: number;
  readonly until: number;
}

const BEYOND = 12;

export function useVirtual(
  scroller: RefObject<HTMLElement | null>,
  { count, rowHeight, headHeight = 0 }: { count: number; rowHeight: number; headHeight?: number },
): Window & { readonly reveal: (index: number) => void } {
  const [place, setPlace] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => {
      const [top, height] = [element.scrollTop, element.clientHeight];
      // Only a change of rows is worth a render.
      setPlace((before) =>
        Math.floor(before.top / rowHeight) === Math.floor(top / rowHeight) &&
        before.height === height
          ? before
          : { top, height },
      );
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      observer.disconnect();
    };
  }, [scroller, rowHeight]);
  const reveal = useCallback(
    (index: number) => {
      const element = scroller.current;
      if (!element) return;
      const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight + headHeight];
      if (top < element.scrollTop) element.scrollTop = top;
      else if (bottom > element.scrollTop + element.clientHeight) {
        element.scrollTop = bottom - element.clientHeight;
      }
    },
    [scroller, rowHeight, headHeight],
  );
  const from = Math.max(0, Math.min(count, Math.floor(place.top / rowHeight)) - BEYOND);
  const until = Math.min(count, Math.ceil((place.top + place.height) / rowHeight) + BEYOND);
  return { from, until, reveal };
}
