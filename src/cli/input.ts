/** Inputs, keys and times as somebody typed them, or put them into a file. */
import { createReadStream, statSync } from 'node:fs';
import { pathFrom } from '../config/index.ts';
import { countOption, keyOption, taskKeyOption, traceParentOption } from '../config/options.ts';
import {
  type Duration,
  describeError,
  encodeJson,
  parseDuration,
  roundedIn,
  show,
} from '../ground/index.ts';
import type { Due } from '../store/index.ts';
import type { Options } from './command.ts';
import { UsageError } from './errors.ts';
import type { Io } from './io.ts';

export const INPUT_BYTES_MAX = 64 * 1024 * 1024;

export function readKey(text: unknown, where = '--key'): string | undefined {
  return typed(() => keyOption(text, where));
}

/** The key of a task that is to be enqueued. */
export function readTaskKey(text: unknown, where = '--key'): string | undefined {
  return typed(() => taskKeyOption(text, where));
}

/** What the public API would refuse, refused as something that was typed. */
function typed<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

/** How long --wait waits; for ever where nothing is said. */
export function readWait({ timeout, wait }: Options): number {
  if (timeout !== undefined && wait !== true) {
    throw new UsageError('--timeout says how long --wait waits, and --wait is missing', {
      hint: 'add --wait, or leave --timeout away',
    });
  }
  return readTimeout(timeout);
}

export function readTimeout(text: unknown): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const ms = parseDuration(text as Duration);
  if (ms !== undefined) return ms;
  throw new UsageError(`--timeout must be a duration such as '30s', got ${show(text)}`);
}

export async function readInput(text: string, from: Pick<Io, 'stdin' | 'cwd'>): Promise<unknown> {
  const isFile = text.startsWith('@') || text === '-';
  const what = isFile ? `the input in ${text}` : '--input';
  const source = isFile ? await readSource(text, what, from) : text;
  const input = parseInput(source, what);
  const rounded = roundedIn(source);
  if (rounded !== undefined) {
    throw new UsageError(`${what} has ${rounded}, which is beyond 2^53 and would be rounded`, {
      hint: `write it as a text: "${rounded.slice(0, 40)}"`,
    });
  }
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

/** A stream is read as it comes: what a pipe or a device will say, nobody knows beforehand. */
async function readSource(
  text: string,
  what: string,
  from: Pick<Io, 'stdin' | 'cwd'>,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of openSource(text, from) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > INPUT_BYTES_MAX) {
        throw new UsageError(`${what} is larger than ${INPUT_BYTES_MAX} bytes`);
      }
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`the input cannot be read: ${describeError(cause).message}`, { cause });
  }
  return decodeText(Buffer.concat(chunks), what);
}

function openSource(
  text: string,
  { stdin, cwd }: Pick<Io, 'stdin' | 'cwd'>,
): NodeJS.ReadableStream {
  const path = pathFrom(cwd, text.slice(1));
  if (text === '-' || path === '/dev/stdin') return stdin;
  const found = statSync(path);
  if (found.isCharacterDevice() || found.isBlockDevice()) {
    throw new UsageError(`the input cannot be read: ${path} is a device`, {
      hint: 'name a file or a pipe, or pass - for stdin',
    });
  }
  return createReadStream(path);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes that are no text must not be journaled as other bytes than were given. */
export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new UsageError(`${what} is not UTF-8`, {
      cause,
      hint: 'JSON is UTF-8: convert it first, for example with: iconv -t utf-8',
    });
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

const RETRIES_MAX = 1_000_000;

export function readRetriesMax(text: unknown, where = '--retries-max'): number | undefined {
  if (text === undefined) return undefined;
  const value = typeof text === 'string' && /^\d{1,7}$/.test(text) ? Number(text) : text;
  return typed(() => countOption(where, value as number, RETRIES_MAX));
}

export function readTraceParent(text: unknown, where = '--trace-parent'): string | undefined {
  return typed(() => traceParentOption(text, where));
}

/** Somebody else's variable: one that makes no sense is no reason to refuse anything. */
export function inheritedTraceParent(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return traceParentOption(env['TRACEPARENT']);
  } catch {
    return undefined;
  }
}
