/**
 * Time and scheduling as one port. Everything outside this room gets a Clock as an argument, so that
 * a simulation can own time; this file is the only place that touches the real one.
 */
export type Cancel = () => void;

export interface Clock {
  /** Wall time in milliseconds: for due times and for people. May jump. */
  now(): number;
  /** Milliseconds that never go back: for elapsed time. */
  monotonicMs(): number;
  /** Calls `act` once after `delayMs`; the timer keeps the process alive unless `idle`. */
  after(delayMs: number, act: () => void, options?: { readonly idle?: boolean }): Cancel;
  /** Calls `act` once this turn of the loop has done its I/O: where appends gather. */
  soon(act: () => void): void;
}

/** Longer timers fire at once in Node; whoever waits longer is woken early and waits again. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // By the process and not by the thread, so that threads can compare.
  monotonicMs: () => Number(process.hrtime.bigint()) / 1_000_000,
  after(delayMs, act, options) {
    const timer = setTimeout(act, Math.min(Math.max(0, Math.ceil(delayMs)), TIMER_MS_MAX));
    if (options?.idle) timer.unref();
    return () => clearTimeout(timer);
  },
  soon(act) {
    setImmediate(act);
  },
};

/** Resolves after `ms`; for callers that have nothing to cancel. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

/** Waits for `work`, and no longer than `ms`; no timer is left that would keep the process alive. */
export async function atMost(
  clock: Clock,
  ms: number,
  work: Promise<unknown> | undefined,
): Promise<void> {
  let cancel: Cancel | undefined;
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    cancel?.();
  }
}

/** Resolves after a turn of the loop: whatever was waiting for one has had it. */
export function turn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}

/** Milliseconds since the epoch as ISO 8601, for people and files. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same as what libraries that know only dates want. */
export function dateOf(ms: number): Date {
  return new Date(ms);
}
