/**
 * Which errors mean that there was no room. The error stays the author's own, whatever class it has, and
 * may be caught, wrapped and thrown on; what is known about it is kept beside it.
 */
import { PermitDelayedError, ThrottleParkedError, ThrottleRefusedError } from '../errors.ts';
import { spreadMs } from '../permits/spread.ts';

export interface Postponement {
  readonly api: string;
  readonly delayMs: number;
  readonly why: string;
  /** How long it has waited for leave to call before. */
  readonly waitedMs: number;
  /** Whether it was the API that had no room; else there was no permit. */
  readonly isRefusal: boolean;
}

const KNOWN = new WeakMap<object, Postponement>();
const CAUSE_COUNT_MAX = 5;
const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 60_000;

export function notePostponement(error: unknown, postponement: Postponement): void {
  if (typeof error === 'object' && error !== null) KNOWN.set(error, postponement);
}

/** How long to wait, where this error or one that caused it says so. */
export function postponementOf(thrown: unknown): Postponement | undefined {
  let found = thrown;
  for (let depth = 0; depth <= CAUSE_COUNT_MAX; depth++) {
    if (typeof found !== 'object' || found === null) return undefined;
    const known = KNOWN.get(found);
    if (known) return known;
    if (isDelayed(found)) return postponementBy(found);
    found = causeOf(found);
  }
  return undefined;
}

/** Whether it tells of another call, which has been counted: of another API, or inside of this one. */
export function isOfAnother(error: unknown, api: string): boolean {
  const known = postponementOf(error);
  return known !== undefined && (known.api !== api || isDelayed(Object(error)));
}

/** The longer the API asked for or, growing with refusals in a row, anything up to a bound. */
export function backoffMs(
  refusals: number,
  retryAfterMs: number | undefined,
  chance: number,
): number {
  const boundMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** Math.min(refusals, 20));
  return Math.max(spreadMs(retryAfterMs ?? 0, chance), boundMs * chance);
}

function postponementBy(error: PermitDelayedError): Postponement {
  const { api, delayMs, message: why } = error;
  const waitedMs = error instanceof ThrottleParkedError ? error.waitedMs : 0;
  return { api, delayMs, why, waitedMs, isRefusal: error instanceof ThrottleRefusedError };
}

function isDelayed(found: object): found is PermitDelayedError {
  try {
    return found instanceof PermitDelayedError;
  } catch {
    return false;
  }
}

function causeOf(error: object): unknown {
  try {
    return (error as { cause?: unknown }).cause;
  } catch {
    return undefined;
  }
}
