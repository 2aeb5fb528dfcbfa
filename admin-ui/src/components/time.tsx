/** An instant in the form that was chosen; its exact time is one hover away. */
import { useSyncExternalStore } from 'react';
import { showInstant, showSpan } from '../format/time.ts';
import { isoTime, now, secondHand } from '../platform/clock.ts';
import { useSettings } from '../platform/settings.ts';

export function useSecond(): number {
  return useSyncExternalStore(secondHand.subscribe, secondHand.read);
}

export function Time({ at }: { at: number }) {
  const { times } = useSettings();
  useSecond();
  return (
    <time dateTime={isoTime(at)} title={isoTime(at)} className="number">
      {showInstant(at, times, now())}
    </time>
  );
}

/** How long it has lasted; it goes on while there is no end. */
export function Span({ from, until }: { from: number; until: number | undefined }) {
  useSecond();
  return <span className="number">{showSpan((until ?? now()) - from)}</span>;
}
