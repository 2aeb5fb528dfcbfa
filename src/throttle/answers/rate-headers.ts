/**
 * What answers say of the room that is left: Retry-After in its forms, and the limit, remaining and
 * reset headers in theirs. Some APIs send rubbish in them (-1, 0, empty): what cannot be is not there.
 * What counts tokens is read beside it: how many calls that is depends on what they cost.
 */
import { hintOfField } from './ratelimit-field.ts';

/** `remaining` calls may be made within the next `resetMs`. */
export interface RateHint {
  readonly remaining: number;
  readonly resetMs: number;
}

/** Headers as `fetch` has them, or as a plain object whose names may be in any case. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | number | undefined>>;

/** Quotas by the day are the longest there are; what is longer is no time that anybody waits for. */
export const RETRY_AFTER_MS_MAX = 24 * 3_600_000;
const RESET_MS_MAX = 24 * 3_600_000;

/** In seconds, as a date, or, of some APIs, in milliseconds; undefined where it is none of these. */
export function retryAfterMs(headers: HeadersLike, nowMs: number): number | undefined {
  const inMs = bounded(plainNumber(headerOf(headers, 'retry-after-ms')));
  const text = headerOf(headers, 'retry-after');
  if (inMs !== undefined || text === undefined) return inMs;
  const seconds = plainNumber(text);
  if (seconds !== undefined) return bounded(seconds * 1_000);
  return bounded(dateMs(text, saidMs(headers, nowMs)), 'past');
}

/** When it was said, by the clock of whoever said it, where that is told: a time is meant by that one. */
function saidMs(headers: HeadersLike, nowMs: number): number {
  const text = headerOf(headers, 'date');
  return (text === undefined ? undefined : dateMs(text, 0)) ?? nowMs;
}

const FAMILIES = [
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'],
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['ratelimit-remaining', 'ratelimit-reset'],
] as const;

const COST_FAMILIES = [
  ['x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
  ['anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-reset'],
] as const;

/** The first family of headers that says something that can be. */
export function rateHintOf(headers: HeadersLike, nowMs: number): RateHint | undefined {
  const told = toldIn(FAMILIES, headers, nowMs);
  if (told) return told;
  const field = headerOf(headers, 'ratelimit');
  const hint = field && hintOfField(field, headerOf(headers, 'ratelimit-policy'));
  return hint && canBe(hint) ? hint : undefined;
}

/** What is left of tokens, which is what calls of models cost. */
export function costHintOf(headers: HeadersLike, nowMs: number): RateHint | undefined {
  return toldIn(COST_FAMILIES, headers, nowMs);
}

function toldIn(
  families: typeof FAMILIES | typeof COST_FAMILIES,
  headers: HeadersLike,
  nowMs: number,
): RateHint | undefined {
  const thenMs = saidMs(headers, nowMs);
  for (const [remainingName, resetName] of families) {
    const remaining = plainNumber(headerOf(headers, remainingName));
    const resetMs = resetOf(headerOf(headers, resetName), thenMs);
    if (remaining === undefined || resetMs === undefined) continue;
    if (canBe({ remaining, resetMs })) return { remaining, resetMs };
  }
  return undefined;
}

function canBe({ remaining, resetMs }: RateHint): boolean {
  return remaining >= 0 && resetMs > 0 && resetMs <= RESET_MS_MAX;
}

/** Seconds from now, seconds since 1970, a duration such as '6m0s' or '20ms', or a date. */
function resetOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const number = plainNumber(text);
  if (number !== undefined) return number > 1e9 ? number * 1_000 - nowMs : number * 1_000;
  return durationMs(text) ?? dateMs(text, nowMs);
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

function durationMs(text: string): number | undefined {
  if (!/^(\d{1,9}(\.\d{1,9})?(h|ms|m|s))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/([\d.]+)(h|ms|m|s)/g)) {
    sum += Number(number) * UNIT_MS[unit!]!;
  }
  return sum;
}

function dateMs(text: string, nowMs: number): number | undefined {
  // Date.parse takes a bare number for a year.
  if (!/[A-Za-z]/.test(text) || text.length > 64) return undefined;
  const at = Date.parse(hasZone(text) ? text : `${text}${/\dT\d/.test(text) ? 'Z' : ' GMT'}`);
  return Number.isNaN(at) ? undefined : at - nowMs;
}

/** Dates of HTTP are in UTC, and one of their three forms does not say so. */
function hasZone(text: string): boolean {
  return /[A-Za-z]$|:\d\d(\.\d{1,9})? ?[+-]\d\d:?\d\d$/.test(text);
}

function plainNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/** A date that has passed means now; a negative number means nothing. */
function bounded(ms: number | undefined, past?: 'past'): number | undefined {
  if (ms === undefined || (ms < 0 && past === undefined)) return undefined;
  return Math.min(Math.max(0, ms), RETRY_AFTER_MS_MAX);
}

function headerOf(headers: HeadersLike, name: string): string | undefined {
  const value = hasGet(headers) ? headers.get(name) : ownHeader(headers, name);
  if (typeof value === 'number') return `${value}`;
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first.trim() !== '' ? first.trim() : undefined;
}

function hasGet(headers: HeadersLike): headers is { get(name: string): string | null } {
  return typeof (headers as { get?: unknown }).get === 'function';
}

function ownHeader(headers: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(headers, name)) return headers[name];
  const key = Object.keys(headers).find((known) => known.toLowerCase() === name);
  return key === undefined ? undefined : headers[key];
}
