/** How long to wait before the next attempt. */
import { DURATION_WANTED, type Duration, parseDuration } from './duration.ts';
import { show } from './errors.ts';

/** Milliseconds before attempt `attempt + 1`, given that `attempt` (from 1) has failed. */
export type Backoff = (attempt: number) => number;

/** Doubles from `first` up to `max`. The engine adds jitter, so that failures of one cause spread out. */
export function exponential(
  first: Duration,
  options: { readonly max?: Duration | undefined } = {},
): Backoff {
  const firstMs = required(first, 'first');
  const maxMs = required(options.max ?? '30s', 'max');
  return Object.assign(
    (attempt: number) => Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 40)),
    {
      // Named, so that a definition can be shown and fingerprinted without reading function source.
      description: `exponential(${firstMs}ms, max ${maxMs}ms)`,
    },
  );
}

/** Between half of `delayMs` and all of it: never longer than promised, never all at once. */
export function jittered(delayMs: number, fraction: number): number {
  return delayMs * (0.5 + fraction / 2);
}

function required(duration: Duration, name: string): number {
  const ms = parseDuration(duration);
  if (ms === undefined) {
    throw new TypeError(`exponential: ${name} must be ${DURATION_WANTED}, got ${show(duration)}`);
  }
  return ms;
}
