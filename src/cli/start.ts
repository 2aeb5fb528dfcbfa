/** fleetq start <machine> --input json|@file|- [--key k] [--wait]: starts a run, and may see it through. */
import { readFileSync, statSync } from 'node:fs';
import { KEY_LENGTH_MAX } from '../config/index.ts';
import type { RunSummary } from '../engine/index.ts';
import {
  type Duration,
  describeError,
  encodeJson,
  parseDuration,
  pause,
  show,
  systemClock,
} from '../ground/index.ts';
import { placeOf } from '../journal/index.ts';
import type { Context, Execute } from './command.ts';
import { UnreachableError, UsageError } from './errors.ts';
import { Exit, type ExitCode } from './exit.ts';
import type { Output } from './output.ts';
import { type Ended, executeHere, reachEither, type Started, startRun } from './reach.ts';
import { SocketClient, WAIT_MS } from './socket-client.ts';
import { plain } from './table.ts';

const INPUT_BYTES_MAX = 64 * 1024 * 1024;
/** A process that is being restarted is given so long to come back. */
const RETURN_PATIENCE_MS = 30_000;
const RETRY_MS = 250;

export const start: Execute = async (context, options, machine) => {
  const { config, output } = context;
  const starting = {
    machine: machine!,
    input: readInput(String(options['input'])),
    key: readKey(options['key']),
  };
  if (options['wait'] !== true) return said(output, await startRun(config, starting));
  const timeoutMs = readTimeout(options['timeout']);
  const wait = (id: string, ended: Ended) => waitFor(context, id, ended, timeoutMs);
  const started = await reachEither<Started>(
    config,
    async (client) => {
      const { id } = await client.start(starting.machine, starting.input, starting.key);
      return { run: await wait(id, patient(context, id)), executedBy: 'running-process' };
    },
    () => executeHere(config, starting, wait),
  );
  return ending(output, started);
};

/** Asks again and again until the run has ended or the time is up. */
async function waitFor(
  { output }: Context,
  id: string,
  ended: Ended,
  timeoutMs: number,
): Promise<RunSummary> {
  output.note(`run ${id} started`);
  const untilMs = systemClock.monotonicMs() + timeoutMs;
  while (true) {
    const leftMs = untilMs - systemClock.monotonicMs();
    const run = await ended(id, Math.max(0, Math.min(WAIT_MS, leftMs)));
    if (run.finishedAt !== undefined || leftMs <= 0) return run;
  }
}

/** The answer of whichever process holds the directory: the one that began may have been replaced. */
function patient({ config }: Context, id: string): Ended {
  return async (_, waitMs) => {
    const client = new SocketClient(placeOf(config.dataDir).socket);
    const sinceMs = systemClock.monotonicMs();
    try {
      while (true) {
        try {
          return await client.ended(id, waitMs);
        } catch (error) {
          const code = (error as { code?: unknown }).code;
          const mayReturn = error instanceof UnreachableError || code === 'FLEETQ_DRAINING';
          if (!mayReturn) throw error;
          if (systemClock.monotonicMs() - sinceMs > RETURN_PATIENCE_MS) throw gone(id, error);
          await pause(systemClock, RETRY_MS);
        }
      }
    } finally {
      client.close();
    }
  };
}

function gone(id: string, cause: unknown): UnreachableError {
  return new UnreachableError(`the process that was executing run ${id} went away`, {
    cause,
    hint: `the run is durable and goes on in the next process; see it with: fleetq run ${id}`,
  });
}

const SAID: Record<Started['executedBy'], string> = {
  'running-process': 'the running process executes it',
  'next-process': 'no process is running: it is durable, and the next one (fleetq dev) executes it',
  'this-command': '',
};

function said(output: Output, { run, executedBy }: Started): ExitCode {
  if (output.isJson) output.json({ ...run, executedBy });
  else output.line(run.id);
  output.note(SAID[executedBy]);
  return Exit.ok;
}

function ending(output: Output, { run, executedBy }: Started): ExitCode {
  const isGood = run.outcome === 'completed' || run.outcome === 'handedOff';
  if (output.isJson) output.json({ ...run, executedBy });
  else if (isGood) output.json(run.output ?? null);
  if (run.finishedAt === undefined) {
    output.note(`run ${run.id} has not ended yet and goes on: it is at ${run.state}`);
    return Exit.timedOut;
  }
  const why = run.reason ?? run.error?.message;
  output.note(`run ${run.id} ${run.outcome} in ${run.state}${why ? `: ${plain(why)}` : ''}`);
  return isGood ? Exit.ok : Exit.runFailed;
}

function readKey(text: unknown): string | undefined {
  if (text === undefined) return undefined;
  if (typeof text === 'string' && text !== '' && text.length <= KEY_LENGTH_MAX) return text;
  throw new UsageError(
    `--key must be text of 1 to ${KEY_LENGTH_MAX} characters, got ${show(text)}`,
  );
}

function readTimeout(text: unknown): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const ms = parseDuration(text as Duration);
  if (ms !== undefined) return ms;
  throw new UsageError(`--timeout must be a duration such as '30s', got ${show(text)}`);
}

function readInput(text: string): unknown {
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

function parseInput(source: string, what: string): unknown {
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
