/** fleetq start <machine> --input json|@file|- [--key k] [--wait]: starts a run, and may see it through. */
import type { RunSummary } from '../engine/index.ts';
import { pause, systemClock } from '../ground/index.ts';
import { placeOf } from '../journal/index.ts';
import type { Context, Execute } from './command.ts';
import { UnreachableError } from './errors.ts';
import { Exit, type ExitCode } from './exit.ts';
import { readInput, readKey, readWait } from './input.ts';
import type { Output } from './output.ts';
import { type Ended, executeHere, reachEither, type Started, startRun } from './reach.ts';
import { withoutSecrets } from './shown.ts';
import { SocketClient, WAIT_MS } from './socket-client.ts';
import { plain } from './table.ts';

/** A process that is being restarted is given so long to come back. */
const RETURN_PATIENCE_MS = 30_000;
const RETRY_MS = 250;

export const start: Execute = async (context, options, machine) => {
  const { config, output, io } = context;
  const timeoutMs = readWait(options);
  const starting = {
    machine: machine!,
    key: readKey(options['key']),
    input: await readInput(String(options['input']), io),
  };
  if (options['wait'] !== true) return said(output, await startRun(config, starting));
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
    const elapsedMs = () => systemClock.monotonicMs() - sinceMs;
    // Who wants to wait no longer than this has no patience for a restart either.
    const patienceMs = waitMs < WAIT_MS ? waitMs : RETURN_PATIENCE_MS;
    try {
      while (true) {
        try {
          return await client.ended(id, Math.max(0, waitMs - elapsedMs()));
        } catch (error) {
          const code = (error as { code?: unknown }).code;
          const mayReturn = error instanceof UnreachableError || code === 'FLEETQ_DRAINING';
          if (!mayReturn) throw error;
          if (elapsedMs() > patienceMs) throw gone(id, error);
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
  'next-process':
    'no process is running: it is durable, and the next one (fleetq worker) executes it',
  'this-command': '',
};

function said(output: Output, { run: told, executedBy }: Started): ExitCode {
  const run = withoutSecrets(told, output.redact);
  if (output.isJson) output.json({ ...run, executedBy });
  else output.line(run.id);
  output.note(SAID[executedBy]);
  return Exit.ok;
}

function ending(output: Output, { run: told, executedBy }: Started): ExitCode {
  const run = withoutSecrets(told, output.redact);
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
