/**
 * fleetq admin --listen host:port: answers people and programs, and executes nothing. What it tells is
 * what the store holds; without a store, what the journal of the data directory does.
 */
import {
  AdminServer,
  aboutProcess,
  bodyBytesMaxOf,
  type Desk,
  journalSources,
  type LiveHub,
  listenOn,
  liveOf,
  Shared,
  type Sources,
} from '../../admin/index.ts';
import { type Config, durationOption } from '../../config/index.ts';
import type { Tasks } from '../../fleet/tasks.ts';
import { parseDuration, runIdMint, systemClock, systemRandom, turn } from '../../ground/index.ts';
import { taskOptions } from '../../handles.ts';
import { decodeRowsAfter, lookingCodec } from '../../journal/index.ts';
import { parseInput, Registry } from '../../machine/index.ts';
import { machineInfo } from '../../machine-info.ts';
import { type StartTask, sharedPortOf } from '../../shared-port.ts';
import type { Store } from '../../store/index.ts';
import type { Context, Execute } from '../command.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { codecFor, withTasks } from '../fleet/open.ts';
import { listenOf } from '../host.ts';
import { loadMachinesIfAny } from '../machines.ts';
import { OfflineReader } from '../offline-reader.ts';
import { writeLogsOf } from '../write-logs.ts';

const LISTEN_OTHERWISE = '127.0.0.1:7433';
/** Changes are refused by the store, whoever asks for them. */
const ONLY_LOOKS =
  'it can only look: its role in the store may read, and change nothing (see deploy/postgres/roles.sql)';
const PORTS = { clock: systemClock, random: systemRandom };

export const admin: Execute = async (context) => {
  const stopLogs = writeLogsOf(context.config, context.io);
  try {
    return await serve(context);
  } finally {
    stopLogs();
  }
};

async function serve(context: Context): Promise<ExitCode> {
  const { config } = context;
  const registry = new Registry((await loadMachinesIfAny(config, config.cwd)).machines);
  if (config.store === undefined) {
    const journal = new OfflineReader(config.dataDir, systemClock, codecFor(config));
    const live = liveOf(systemClock, journalSources(journal, codecFor(config)));
    const code = await serveUntilSignal(context, { ...deskOf(config, registry, live), journal });
    journal.close();
    return code;
  }
  return withTasks(config, async (tasks, store) => {
    const mayChange = await store.mayChange();
    const desk = deskOfStore(config, registry, tasks, store);
    return serveUntilSignal(context, desk, mayChange ? undefined : ONLY_LOOKS);
  });
}

/** What is told where there is a store, and nothing is executed here. */
export function deskOfStore(config: Config, registry: Registry, tasks: Tasks, store: Store): Desk {
  const shared = sharedOf(config, registry, tasks, store);
  const live = liveOf(systemClock, { ...nothingLocal(config), store: async () => store });
  return { ...deskOf(config, registry, live), shared };
}

/** Records come from the archive alone. */
function nothingLocal(config: Config): Pick<Sources, 'local' | 'decode'> {
  const codec = lookingCodec(codecFor(config));
  return {
    local: undefined,
    decode: (run, rows, after) => decodeRowsAfter(run, rows, codec, after),
  };
}

function deskOf(config: Config, registry: Registry, live: LiveHub): Desk {
  return {
    ...PORTS,
    about: aboutProcess(systemClock),
    live,
    fleet: undefined,
    journal: undefined,
    shared: undefined,
    machines: registry.all().map(machineInfo),
    redacted: config.redact,
    codec: codecFor(config),
    bodyBytesMax: bodyBytesMaxOf(config.resultBytesMax),
  };
}

function sharedOf(config: Config, registry: Registry, tasks: Tasks, store: Store): Shared {
  const keyMs = durationOption('retention', config.retention);
  const silentMs = config.silence === undefined ? undefined : parseDuration(config.silence);
  const port = {
    start: async (...[name, input, { note, ...options }]: Parameters<StartTask>) => {
      const wanted = taskOptions(options, keyMs);
      return { id: await tasks.enqueue(registry.newest(name), input, wanted, note) };
    },
    checkInput: async (name: string, input: unknown, version?: number) => {
      const plan = version === undefined ? registry.newest(name) : registry.find(name, version);
      if (plan) await parseInput(systemClock, plan, input);
    },
    ended: (id: Parameters<Tasks['ending']>[0], timeout: unknown) =>
      tasks.ending(id, untilOf(timeout)),
    running: { registry, clock: systemClock, keyMs, mint: runIdMint(systemClock, systemRandom) },
  };
  return new Shared(sharedPortOf(store, port, { silentMs, readUrl: config.readStore }));
}

/** Aborted after so long. */
function untilOf(timeout: unknown): AbortSignal {
  const aborter = new AbortController();
  systemClock.after(parseDuration(timeout) ?? 0, () => aborter.abort(), { idle: true });
  return aborter.signal;
}

async function serveUntilSignal(
  { config, output, io }: Context,
  desk: Desk,
  warning?: string,
): Promise<ExitCode> {
  const server = new AdminServer(desk);
  const listen = listenOf({ ...config, listen: config.listen ?? LISTEN_OTHERWISE })!;
  const at = await listenOn(server, listen, PORTS);
  if (output.isJson)
    output.line(JSON.stringify({ kind: 'ready', pid: process.pid, listening: at, warning }));
  else output.note(`answering on http://${at}, executing nothing; SIGTERM ends it`);
  if (warning !== undefined && !output.isJson) output.note(warning);
  await new Promise<void>((resolve) => {
    const idle = systemClock.after(2 ** 31 - 1, () => undefined);
    const end = () => {
      idle();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM']) io.signals.once(signal, end);
  });
  await server.stop();
  await turn(systemClock);
  return Exit.ok;
}
