/**
 * The command line in the process of the test: everything of a command except its process. Each call has
 * its own streams, variables and signals, so that calls share nothing. Machines are loaded from the sources
 * like everything else. Signals, kills and terminals are tested in *.e2e.test.ts.
 */
import { EventEmitter } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, expect } from 'vitest';
import { loadMachines } from '../../src/cli/machines.ts';
import { runCommand } from '../../src/cli/main.ts';
import { codecOf, type Flags, readConfig } from '../../src/config/index.ts';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { createFleet, type Fleet } from '../../src/index.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { Transcript } from './transcript.ts';

export const MACHINES = fileURLToPath(new URL('machines', import.meta.url));

type Env = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
export interface Call {
  readonly ended: Promise<Ended>;
  /** Resolves with the first match in what it has said so far. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends what the process of the command would be sent. */
  signal(signal: 'SIGINT' | 'SIGTERM'): void;
}
export interface CallOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What stdin has; nothing by default. */
  readonly input?: string | Buffer | Readable;
  /** The width of the terminal; without it there is none. */
  readonly columns?: number;
}

/** `fleetq …` in a directory, with the machines of these tests, while it goes on. */
export function begin(
  cwd: string,
  args: readonly string[],
  { env, input = '', columns }: CallOptions = {},
): Call {
  const heard = new Transcript();
  const signals = new EventEmitter();
  const stream = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      heard.add(name, text);
      return true;
    },
    once: () => undefined,
    isTTY: columns !== undefined,
    columns,
  });
  const ended = runCommand(['node', 'fleetq', ...args], {
    stdin: input instanceof Readable ? input : Readable.from([Buffer.from(input)]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: { FLEETQ_MACHINES: MACHINES, ...env },
    cwd,
    signals,
  }).then((code) => ({ code, stdout: heard.stdout, stderr: heard.stderr }));
  return {
    ended,
    said: (pattern) => heard.said(pattern, ended),
    signal: (signal) => void signals.emit(signal, signal),
  };
}

/** The same to its end. */
export function fleetq(
  cwd: string,
  args: readonly string[],
  options: CallOptions = {},
): Promise<Ended> {
  return begin(cwd, args, options).ended;
}

/** What a command answered: the task it is about, and whatever a test expects of it. */
export type Told = { readonly task: string } & Readonly<Record<string, unknown>>;

export interface Place {
  readonly cwd: string;
  readonly env: Env;
  /** `fleetq …` to its end, with the store configured. */
  run(...args: string[]): Promise<Ended>;
  /** The same with --json, which has to succeed. */
  json<T = Told>(...args: string[]): Promise<T>;
  /** The same while it goes on. */
  begin(...args: string[]): Call;
  /** A pod of the fleet, as `fleetq worker` with these flags would be; gone at the end of the test. */
  pod(flags?: Flags): Promise<Fleet>;
  /** Acts on the store itself. */
  store<T>(act: (store: Store) => Promise<T>): Promise<T>;
}

/** Beats are frequent, so that tests do not wait; the silence suits a busy host. */
const TIMES = { FLEETQ_HEARTBEAT: '200ms', FLEETQ_SILENCE: '20s', FLEETQ_ARCHIVE: '50ms' };
const PORTS = { clock: systemClock, random: systemRandom };

/** Call once at the top of a test file. It removes what it made after the tests. */
export function usePlaces() {
  const newDir = useTempDirs();
  const opened: Fleet[] = [];
  afterEach(async () => {
    for (const fleet of opened.splice(0)) await fleet.drain({ budget: 0 });
  });

  function makeDirectory(): string {
    const directory = newDir();
    mkdirSync(directory);
    return directory;
  }

  /** A fleet that executes runs and listens on the socket of `<cwd>/.fleetq`; a pod where `env` has a store. */
  async function pod(cwd: string, env: Env = {}, flags: Flags = {}): Promise<Fleet> {
    const config = await readConfig({ flags, env: { FLEETQ_MACHINES: MACHINES, ...env }, cwd });
    const { machines } = await loadMachines(config, cwd);
    const { dataDir, podName, heartbeat, silence, archive, redact, slots } = config;
    const fleet = await createFleet({
      ...{ machines, dataDir, podName, heartbeat, silence, archive, redact, slots },
      // A store that is opened here makes the pod beat in this thread: one thread a pod is too many.
      store: config.store && (await openStore(config.store, { ...PORTS, isPooled: config.pooled })),
      codec: codecOf(config),
    });
    opened.push(fleet);
    return fleet;
  }

  /** A store of its own, in a file where no address is given, with its tables. */
  async function makePlace(env: Env = {}, address?: string): Promise<Place> {
    const cwd = makeDirectory();
    const url = address ?? `sqlite:${join(cwd, 'store', 'fleet.db')}`;
    const all = { FLEETQ_STORE_URL: url, FLEETQ_MACHINES: MACHINES, ...TIMES, ...env };
    const run = (...args: string[]) => fleetq(cwd, args, { env: all });
    const store = async <T>(act: (store: Store) => Promise<T>) => {
      const open = await openStore(url, { ...PORTS, migrates: true });
      return act(open).finally(() => open.close());
    };
    await store(async () => undefined);
    return {
      ...{ cwd, env: all, run, store },
      begin: (...args) => begin(cwd, args, { env: all }),
      json: async (...args) => {
        const ended = await run(...args, '--json');
        expect(ended.code, ended.stderr).toBe(0);
        return JSON.parse(ended.stdout) as never;
      },
      pod: (flags) => pod(cwd, all, flags),
    };
  }

  return { makeDirectory, makePlace, pod };
}
