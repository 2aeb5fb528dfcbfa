/**
 * One way to a fleet for every command: through the socket of the process that holds the data
 * directory, and through the file itself where nobody does.
 */
import { listRuns, refuseUnknown } from '../admin/index.ts';
import { type Config, codecOf } from '../config/index.ts';
import type { RunSummary } from '../engine/index.ts';
import {
  type Clock,
  type Duration,
  describeError,
  FleetqError,
  identityCodec,
  parseDuration,
  pause,
  systemClock,
} from '../ground/index.ts';
import {
  describeHolder,
  type EventRow,
  JournalHeldError,
  type Place,
  placeOf,
  refuseUnfit,
  type StoredRecord,
} from '../journal/index.ts';
import { governProcess } from '../process.ts';
import { UnreachableError } from './errors.ts';
import { Exit } from './exit.ts';
import { openFleet } from './host.ts';
import { loadMachines, loadMachinesIfAny } from './machines.ts';
import { OfflineReader } from './offline-reader.ts';
import { type CancelAnswer, isNobody, type Query, SocketClient } from './socket-client.ts';

/** What a command may ask, wherever the answer comes from. */
export interface Reach {
  readonly by: 'process' | 'file';
  runs(query: Query): Promise<RunSummary[]>;
  run(id: string): Promise<RunSummary>;
  events(id: string, after?: number): Promise<StoredRecord[]>;
  /** Its records as they are stored, which a process does not tell. */
  rows?(id: string): Promise<EventRow[]>;
}
export interface Starting {
  readonly machine: string;
  readonly input: unknown;
  readonly key?: string | undefined;
}

const HASTY_BUDGET_MS = 4_000;
/** A process that is starting, or another short command, holds the file for a moment. */
const HELD_PATIENCE_MS = 6_000;
const HELD_RETRY_MS = 100;

/** Acts on the process that holds the directory, or, where there is none, on the file. */
export async function reachEither<T>(
  config: Config,
  online: (client: SocketClient) => Promise<T>,
  offline: () => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const place = placeOf(config.dataDir);
  // Before anybody is asked: what cannot be entered looks as if somebody were there and silent.
  refuseUnfit(place);
  const client = new SocketClient(place.socket);
  const untilMs = clock.monotonicMs() + HELD_PATIENCE_MS;
  try {
    while (true) {
      const isAnswering = await client.status().then(
        () => true,
        (error) => {
          if (isNobody(error)) return false;
          throw error instanceof UnreachableError ? stuck(place, error) : error;
        },
      );
      if (isAnswering) return await online(client);
      try {
        return await offline();
      } catch (error) {
        if (!(error instanceof JournalHeldError)) throw error;
        if (clock.monotonicMs() > untilMs) throw silent(error);
        await pause(clock, HELD_RETRY_MS);
      }
    }
  } finally {
    client.close();
  }
}

/** Somebody has the socket open, and says nothing: a process that is stopped, or hangs. */
function stuck(place: Place, { cause, hint }: UnreachableError): UnreachableError {
  return new UnreachableError(
    `${place.directory} is held by ${describeHolder(place)}, which does not answer on its ` +
      `socket: ${describeError(cause).message}`,
    { cause, hint },
  );
}

function silent(cause: JournalHeldError): UnreachableError {
  return new UnreachableError(`${cause.message}, which does not answer on its socket`, {
    cause,
    hint: cause.hint,
  });
}

/** For commands that only look. */
export function reachToRead<T>(config: Config, act: (reach: Reach) => Promise<T>): Promise<T> {
  return reachEither(
    config,
    (client) =>
      act({
        by: 'process',
        runs: (query) => client.runs(query),
        run: (id) => client.run(id),
        events: (id, after) => client.events(id, after),
      }),
    async () => {
      const reader = new OfflineReader(
        config.dataDir,
        systemClock,
        codecOf(config) ?? identityCodec,
      );
      try {
        return await act({
          by: 'file',
          runs: async ({ limit, ...query }) => listRuns(reader, { ...query, countMax: limit }),
          run: async (id) => reader.describe(id),
          events: async (id, after) => reader.events(id, after),
          rows: async (id) => reader.rows(id),
        });
      } finally {
        reader.close();
      }
    },
  );
}

export function cancelRun(
  config: Config,
  id: string,
  reason: string | undefined,
): Promise<CancelAnswer> {
  return reachEither(
    config,
    (client) => client.cancel(id, reason),
    async () => {
      // Looked up first: an unknown id must not open the journal to write.
      await reachToRead(config, (reach) => reach.run(id));
      const found = await loadMachinesIfAny(config, config.cwd);
      await using fleet = await openFleet(config, found, { isIdle: true });
      return await fleet.runById(id).cancel(reason);
    },
  );
}

export type StartedBy = 'running-process' | 'next-process' | 'this-command';
export interface Started {
  readonly run: RunSummary;
  /** Who executes it. */
  readonly executedBy: StartedBy;
}

/** Starts a run and leaves it: to the process that is there, or to the next one. */
export function startRun(config: Config, starting: Starting): Promise<Started> {
  const { machine, input, key } = starting;
  return reachEither<Started>(
    config,
    async (client) => ({
      run: await client.start(machine, input, key),
      executedBy: 'running-process',
    }),
    async () => {
      const found = await loadMachines(config, config.cwd);
      refuseUnknown(found, machine);
      await using fleet = await openFleet(config, found, { isIdle: true });
      const { id } = await fleet.startByName(machine, input, { key });
      return { run: fleet.describe(id), executedBy: 'next-process' };
    },
  );
}

/** The run as it is once it has ended, or after `waitMs`. */
export type Ended = (id: string, waitMs: number) => Promise<RunSummary>;

/** Executes a run here, to its end, with whatever else the journal has left to do meanwhile. */
export async function executeHere(
  config: Config,
  { machine, input, key }: Starting,
  wait: (id: string, ended: Ended) => Promise<RunSummary>,
): Promise<Started> {
  const found = await loadMachines(config, config.cwd);
  refuseUnknown(found, machine);
  const fleet = await openFleet(config, found);
  // Whoever presses Ctrl-C here, or has waited long enough, waits no longer than this: what does
  // not finish soon goes on later.
  const hasty = hastyBudget(config);
  const letGo = governProcess(fleet, { drainBudget: hasty, exitCode: Exit.interrupted });
  let budget: Duration = hasty;
  const ended: Ended = async (id, waitMs) => {
    await fleet.runById(id).result({ timeout: waitMs }).catch(howItEnded);
    return fleet.describe(id);
  };
  try {
    const { id } = await fleet.startByName(machine, input, { key });
    const run = await wait(id, ended);
    if (run.finishedAt !== undefined) budget = config.drainBudget;
    return { run, executedBy: 'this-command' };
  } finally {
    await fleet.drain({ budget });
    letGo();
  }
}

function hastyBudget({ drainBudget }: Config): number {
  return Math.min(HASTY_BUDGET_MS, parseDuration(drainBudget) ?? HASTY_BUDGET_MS);
}

/** The summary tells how it ended; waiting for that has nothing to add. */
function howItEnded(error: unknown): void {
  if (!(error instanceof FleetqError)) throw error;
}
