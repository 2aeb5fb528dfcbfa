/**
 * Tasks in a file, one JSON object a line: { "input": …, "key": "…", "priority": 1, "runAt": "10m",
 * "queue": "…", "serialKey": "…", "retriesMax": 3, "after": "<run>", "on": "end" }. Only `input` must be
 * there. Read line by line, so that the file may be larger than memory.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { pathFrom } from '../../config/index.ts';
import type { Wanted } from '../../fleet/enqueue-many.ts';
import type { TaskOptions } from '../../fleet/index.ts';
import { describeError, FleetqError, show } from '../../ground/index.ts';
import { UsageError } from '../errors.ts';
import {
  INPUT_BYTES_MAX,
  parseInput,
  readDue,
  readKey,
  readPriority,
  readRetriesMax,
  readTaskKey,
} from '../input.ts';
import type { Io } from '../io.ts';
import { readFollows } from './read-follows.ts';

/** What the command line says for every line that does not say otherwise. */
export type Words = Pick<
  TaskOptions,
  'keyMs' | 'priority' | 'due' | 'queue' | 'serialKey' | 'retriesMax' | 'follows' | 'traceParent'
>;
const NAMES = { after: 'after', on: 'on', due: 'runAt', serialKey: 'serialKey' };
const NEWLINE = 10;
const FIELDS = [
  ...['input', 'key', 'priority', 'runAt', 'queue', 'serialKey', 'retriesMax'],
  ...['after', 'on'],
];

/** A line that cannot be enqueued, and why. */
export class BadLineError extends FleetqError {
  readonly code = 'FLEETQ_BAD_LINE';
  readonly verdict = 'abort';
  constructor(line: number, cause: unknown) {
    const hint = (cause as { hint?: string }).hint;
    super(`line ${line}: ${describeError(cause).message}`, { cause, ...(hint ? { hint } : {}) });
  }
}

/** The lines of a file, one by one, and how much of it has been read. */
export class Lines {
  readonly #file: string;
  readonly #words: Words;
  readonly #io: Pick<Io, 'stdin' | 'cwd'>;
  bytes = 0;

  constructor(file: string, words: Words, io: Pick<Io, 'stdin' | 'cwd'>) {
    this.#file = file;
    this.#words = words;
    this.#io = io;
  }

  async *read(traceParent: string | undefined): AsyncGenerator<Wanted> {
    const { stdin, cwd } = this.#io;
    const bytes = this.#file === '-' ? stdin : createReadStream(pathFrom(cwd, this.#file));
    const source = Readable.from(textOf(bytes));
    const lines = createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY });
    const words = { ...this.#words, traceParent };
    let number = 0;
    try {
      // Read with the iterator of the stream's own errors: a file that is not there is told as such.
      for await (const text of orUnreadable(lines, source)) {
        number += 1;
        this.bytes += Buffer.byteLength(text) + 1;
        yield readLine(text, number, words);
      }
    } finally {
      lines.close();
    }
  }
}

async function* orUnreadable(
  lines: AsyncIterable<string>,
  source: NodeJS.ReadableStream,
): AsyncGenerator<string> {
  let failure: Error | undefined;
  source.on('error', (error: Error) => {
    failure = error;
  });
  try {
    yield* lines;
  } catch (error) {
    failure ??= error as Error;
  }
  if (failure instanceof UsageError) throw failure;
  if (failure)
    throw new UsageError(`the file cannot be read: ${failure.message}`, { cause: failure });
}

/** Bytes that are no text are refused: they would be enqueued as others than were given. */
async function* textOf(source: NodeJS.ReadableStream): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let [bytes, lineBytes] = [0, 0];
  for await (const chunk of source as AsyncIterable<Buffer>) {
    yield decode(utf8, chunk, bytes);
    bytes += chunk.length;
    const end = chunk.lastIndexOf(NEWLINE);
    lineBytes = end < 0 ? lineBytes + chunk.length : chunk.length - end - 1;
    if (lineBytes > INPUT_BYTES_MAX) {
      throw new UsageError(`the file has a line of more than ${INPUT_BYTES_MAX} bytes`);
    }
  }
  yield decode(utf8, undefined, bytes);
}

function decode(utf8: TextDecoder, chunk: Buffer | undefined, at: number): string {
  try {
    return chunk ? utf8.decode(chunk, { stream: true }) : utf8.decode();
  } catch (cause) {
    throw new UsageError(`the file is not UTF-8, somewhere after byte ${at}`, { cause });
  }
}

function readLine(text: string, number: number, words: Words): Wanted {
  try {
    const value = parseInput(text, 'it');
    if (typeof value !== 'object' || value === null || !('input' in value)) {
      throw new UsageError(`must be an object with an input, got ${show(value)}`, {
        hint: 'write each line as {"input":{"name":"Ada"},"key":"ada-1"}',
      });
    }
    const unknown = Object.keys(value).find((name) => !FIELDS.includes(name));
    if (unknown !== undefined) {
      const hint = `there are: ${FIELDS.join(', ')}`;
      throw new UsageError(`has an unknown field ${show(unknown)}`, { hint });
    }
    const { input, ...rest } = value as Record<string, unknown>;
    const due = readDue(rest['runAt'], 'runAt') ?? words.due;
    const serialKey = readKey(rest['serialKey'], 'serialKey') ?? words.serialKey;
    const { after, on } = rest;
    return {
      input,
      options: {
        keyMs: words.keyMs,
        key: readTaskKey(rest['key'], 'key'),
        priority: readPriority(rest['priority'], 'priority') ?? words.priority,
        due,
        queue: readKey(rest['queue'], 'queue') ?? words.queue,
        serialKey,
        retriesMax: readRetriesMax(rest['retriesMax'], 'retriesMax') ?? words.retriesMax,
        follows: readFollows({ after, on, due, serialKey }, NAMES),
        traceParent: words.traceParent,
      },
    };
  } catch (cause) {
    throw new BadLineError(number, cause);
  }
}
