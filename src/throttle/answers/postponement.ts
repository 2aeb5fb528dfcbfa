/**
 * Which errors mean that there was no room. The error stays the author's own, whatever class it has, and
 * may be caught, wrapped and thrown on; what is known about it is kept beside it.
 */
import { PermitDelayedError, ThrottleParkedError, ThrottleRefusedError } from '../errors.ts';
import { spreadMs } from '../permits/spread.ts';
import type { OutcomeKind } from './outcome.ts';

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
const CAUSE_DEPTH_MAX = 5;
/** So many errors that are equally far inside of another are looked at. */
const LEVEL_COUNT_MAX = 16;
const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 60_000;

export function notePostponement(error: unknown, postponement: Postponement): void {
  if (typeof error === 'object' && error !== null) KNOWN.set(error, postponement);
}

export function refusalBy(api: string, kind: OutcomeKind, delayMs: number): Postponement {
  return { api, delayMs, why: `${api} had no room (${kind})`, waitedMs: 0, isRefusal: true };
}

/**
 * How long to wait, where this error, one that caused it or one of several in it says so. The nearest one
 * counts, and of several equally near the one whose wait is shortest: any of their calls would have done.
 */
export function postponementOf(thrown: unknown): Postponement | undefined {
  let level = [thrown];
  for (let depth = 0; depth <= CAUSE_DEPTH_MAX && level.length > 0; depth++) {
    const objects = level.filter((one) => typeof one === 'object' && one !== null) as object[];
    const known = objects.map(knownOf).filter((one) => one !== undefined);
    if (known.length > 0) return known.reduce((a, b) => (b.delayMs < a.delayMs ? b : a));
    level = objects.flatMap(innerOf).slice(0, LEVEL_COUNT_MAX);
  }
  return undefined;
}

function knownOf(error: object): Postponement | undefined {
  return KNOWN.get(error) ?? (isDelayed(error) ? postponementBy(error) : undefined);
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

function innerOf(error: object): unknown[] {
  return [...told(() => [(error as { cause?: unknown }).cause]), ...told(() => severalIn(error))];
}

function severalIn(error: object): unknown[] {
  const { errors } = error as { errors?: unknown };
  return Array.isArray(errors) ? errors.slice(0, LEVEL_COUNT_MAX) : [];
}

/** What was thrown is others', and so are its getters. */
function told(look: () => unknown[]): unknown[] {
  try {
    return look();
  } catch {
    return [];
  }
}
