/** Options of the public API, checked where they are given: a wrong one is a TypeError in words. */
import { type Duration, parseDuration, show } from '../ground/index.ts';

export const KEY_LENGTH_MAX = 512;

export function keyOption(key: unknown, name = 'key'): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length > 0 && key.length <= KEY_LENGTH_MAX) return key;
  throw new TypeError(
    `${name} must be text of 1 to ${KEY_LENGTH_MAX} characters, got ${show(key)}`,
  );
}

export function countOption(name: string, value: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value;
  throw new TypeError(`${name} must be a whole number from 1 to ${max}, got ${show(value)}`);
}

/** The duration's milliseconds. */
export function durationOption(name: string, value: Duration): number {
  const ms = parseDuration(value);
  if (ms !== undefined) return ms;
  throw new TypeError(`${name} must be a duration such as '30s' or '7d', got ${show(value)}`);
}

const TRACE_PARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** As W3C writes it. */
export function traceParentOption(value: unknown, name = 'traceParent'): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && TRACE_PARENT.test(value)) return value;
  throw new TypeError(`${name} must be like 00-<32 hex digits>-<16>-01, got ${show(value)}`);
}
