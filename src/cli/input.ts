/** Inputs, keys and times as somebody typed them, or put them into a file. */
import { readFileSync, statSync } from 'node:fs';
import { KEY_LENGTH_MAX } from '../config/index.ts';
import { type Duration, describeError, encodeJson, parseDuration, show } from '../ground/index.ts';
import type { Due } from '../store/index.ts';
import { UsageError } from './errors.ts';

const INPUT_BYTES_MAX = 64 * 1024 * 1024;

export function readKey(text: unknown, where = '--key'): string | undefined {
  if (text === undefined) return undefined;
  if (typeof text === 'string' && text !== '' && text.length <= KEY_LENGTH_MAX) return text;
  throw new UsageError(
    `${where} must be text of 1 to ${KEY_LENGTH_MAX} characters, got ${show(text)}`,
  );
}

export function readTimeout(text: unknown): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const ms = parseDuration(text as Duration);
  if (ms !== undefined) return ms;
  throw new UsageError(`--timeout must be a duration such as '30s', got ${show(text)}`);
}

export function readInput(text: string): unknown {
  const isFile = text.startsWith('@') || text === '-';
  const source = !isFile ? text : readSource(text === '-' ? 0 : text.slice(1));
  const what = isFile ? `the input in ${text}` : '--input';
  const input = parseInput(source, what);
  try {
    // What JSON.parse lets through is not always what comes back: 1e999, or ever deeper nesting.
    encodeJson(input, what, INPUT_BYTES_MAX);
    return input;
  } catch (cause) {
    throw new UsageError(describeError(cause).message, {
      cause,
      hint: 'keep numbers within 1.8e308 and nesting within 200 levels',
    });
  }
}

export function parseInput(source: string, what: string): unknown {
  try {
    return JSON.parse(source);
  } catch (cause) {
    throw new UsageError(`${what} is not JSON: ${describeError(cause).message}`, {
      cause,
      hint: `write it as '{"name":"Ada"}', or put it into a file and pass @file.json`,
    });
  }
}

function readSource(file: string | 0): string {
  try {
    if (file !== 0 && statSync(file).size > INPUT_BYTES_MAX) {
      throw new UsageError(`the input file ${file} is larger than ${INPUT_BYTES_MAX} bytes`);
    }
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`the input cannot be read: ${describeError(cause).message}`, { cause });
  }
}

/** '10m': after that time by the store's clock; '2030-01-31T12:00:00Z': at that instant. */
export function readDue(text: unknown, where = '--run-at'): Due | undefined {
  if (text === undefined) return undefined;
  const afterMs = parseDuration(text as Duration);
  if (afterMs !== undefined) return { afterMs };
  const isIso = typeof text === 'string' && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(text);
  const at = isIso ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return { at };
  throw new UsageError(
    `${where} must be a duration such as '10m', or a time with its zone such as ` +
      `'2030-01-31T12:00:00Z', got ${show(text)}`,
  );
}

const PRIORITY_MAX = 32_767;

export function readPriority(text: unknown, where = '--priority'): number | undefined {
  if (text === undefined) return undefined;
  const value = typeof text === 'string' && /^-?\d{1,5}$/.test(text) ? Number(text) : text;
  if (Number.isSafeInteger(value) && Math.abs(value as number) <= PRIORITY_MAX) {
    return value as number;
  }
  throw new UsageError(
    `${where} must be a whole number from -${PRIORITY_MAX} to ${PRIORITY_MAX}, got ${show(text)}`,
  );
}
