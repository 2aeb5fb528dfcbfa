/**
 * What is shown of values that are their owners' business. Where payloads are masked only their size is
 * told; where they are shown, what was named as secret is left out of them.
 */
import { type Json, redactor } from '../../ground/index.ts';

export interface Masked {
  readonly isMasked: true;
  readonly bytes: number;
}

export interface Shown {
  value(value: unknown): unknown;
  /** Of values that lie so deep in it: what is named as secret is named from the top of each. */
  parts(value: unknown, depth?: number): unknown;
  /** What failed by its name and code; what it says is its owner's business. */
  error(error: unknown): unknown;
  text(text: string | undefined): string | undefined;
}

export function showing(isMasked: boolean, redacted: readonly string[]): Shown {
  const hide = redactor(redacted);
  if (!isMasked) {
    const value = (given: unknown) => (given === undefined ? undefined : hide(given as Json));
    const parts = (given: unknown, depth = 1): unknown =>
      depth === 0 || !isObject(given)
        ? value(given)
        : value(mapped(given, (part) => parts(part, depth - 1)));
    return { value, parts, error: value, text: (given) => given };
  }
  return {
    value: masked,
    parts: masked,
    error: maskedError,
    text: (given) => given && `(${sizeOf(given)} bytes)`,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapped(of: object, each: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, each(value)]));
}

function masked(value: unknown): Masked | undefined {
  return value === undefined ? undefined : { isMasked: true, bytes: sizeOf(value) };
}

function maskedError(error: unknown): unknown {
  if (error === undefined || error === null) return undefined;
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  return { ...masked(error), name: wordOf(name), code: wordOf(code) };
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.-]{1,100}$/.test(value) ? value : undefined;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
