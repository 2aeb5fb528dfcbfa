/**
 * A real Postgres for a test file: its own data directory, a free port on the loopback, fsync on,
 * gone at the end. It can be crashed and started again on the same data. Where
 * FLEETQ_TEST_POSTGRES_URL names a server, that one is used, with databases of our own in it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { asUser, findBinaries } from './postgres-binaries.ts';
import { makePostgresData, placeForPostgres } from './postgres-data.ts';
import { removeTree } from './remove-tree.ts';

const START_MS_MAX = 90_000;
const LOOK_AGAIN_MS = 20;

/** SIGKILL, of its children too, or what `pg_ctl stop -m immediate` and `-m fast` send. */
export type Crash = 'kill' | 'killAll' | 'immediate' | 'fast';

export const CRASH_SIGNALS: Readonly<Record<Crash, NodeJS.Signals>> = {
  kill: 'SIGKILL',
  killAll: 'SIGKILL',
  immediate: 'SIGQUIT',
  fast: 'SIGINT',
};

export interface TestPostgres {
  /** Makes a database, empty or a copy of `template`, and returns its address. */
  createDatabase(template?: string): Promise<string>;
  /** The server dies without a word, or with the few that its clients get in time. */
  crash(how?: Crash): Promise<void>;
  /** Starts it again on the same data and the same port. */
  start(): Promise<void>;
  /** Ends it and removes what it wrote, or the databases made on a server that is not ours. */
  remove(): Promise<void>;
  readonly canCrash: boolean;
  readonly host: string;
  readonly port: number;
}

/** `settings`: lines of postgresql.conf, such as 'max_connections=200'. */
export async function startPostgres(
  settings: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<TestPostgres> {
  const given = process.env['FLEETQ_TEST_POSTGRES_URL'];
  if (given !== undefined && given !== '') return new GivenPostgres(given);
  const server = new OwnPostgres(await freePort(), settings, env);
  try {
    await server.start();
  } catch (error) {
    await server.remove();
    throw error;
  }
  return server;
}

/** Runs one statement on a connection of its own. */
export async function runOn<Row extends object>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  // A server that dies between two messages fails the statement; nobody else has to hear of it.
  const client = new pg.Client(url).on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** By the kernel's word; nobody's on a system that has none. */
export function childrenOf(pid: number | undefined): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\s+/).map(Number) : [];
}

export function killIfThere(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since.
  }
}

function databaseName(): string {
  return `fleetq_test_${randomBytes(6).toString('hex')}`;
}

class OwnPostgres implements TestPostgres {
  readonly canCrash = true;
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly #binaries = findBinaries();
  readonly #place = placeForPostgres('fleetq-postgres-data-');
  readonly #settings: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #server: ChildProcess | undefined;
  #output = '';
  /** A test run that ends early must not leave a server behind. */
  readonly #onExit = () => this.#server?.kill('SIGQUIT');

  constructor(port: number, settings: readonly string[], env: NodeJS.ProcessEnv) {
    this.port = port;
    this.#env = env;
    this.#settings = settings;
    makePostgresData(this.#binaries.initdb, join(this.#place, 'data'));
    process.once('exit', this.#onExit);
  }

  get #adminUrl(): string {
    return `postgres://postgres@${this.host}:${this.port}/postgres`;
  }

  /** A crashed server's children may hold its shared memory for a moment: then it is tried again. */
  async start(): Promise<void> {
    const giveUpAt = performance.now() + START_MS_MAX;
    for (;;) {
      this.#server ??= this.#spawn();
      const server = this.#server;
      if (await this.#answers()) return;
      if (server.exitCode !== null || server.signalCode !== null) this.#server = undefined;
      if (performance.now() > giveUpAt)
        throw new Error(`Postgres does not start:\n${this.#output}`);
      await sleep(LOOK_AGAIN_MS);
    }
  }

  #spawn(): ChildProcess {
    const settings = [
      `port=${this.port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=on',
      ...this.#settings,
    ].flatMap((setting) => ['-c', setting]);
    const server = spawn(this.#binaries.postgres, ['-D', join(this.#place, 'data'), ...settings], {
      ...asUser,
      cwd: this.#place,
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server.stderr?.on('data', (chunk) => {
      this.#output = `${this.#output}${String(chunk)}`.slice(-10_000);
    });
    return server;
  }

  async #answers(): Promise<boolean> {
    return runOn(this.#adminUrl, 'select 1').then(
      () => true,
      () => false,
    );
  }

  async createDatabase(template = 'template1'): Promise<string> {
    const name = databaseName();
    await runOn(this.#adminUrl, `create database ${name} template ${template}`);
    return `postgres://postgres@${this.host}:${this.port}/${name}`;
  }

  async crash(how: Crash = 'kill'): Promise<void> {
    const children = how === 'killAll' ? childrenOf(this.#server?.pid) : [];
    const ended = this.#end(CRASH_SIGNALS[how]);
    for (const child of children) killIfThere(child);
    await ended;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    process.off('exit', this.#onExit);
    await this.#end('SIGQUIT');
    removeTree(this.#place);
    if (this.#binaries.copy) removeTree(this.#binaries.copy);
  }

  /** What it has written to its log lately. */
  get output(): string {
    return this.#output;
  }
}

/** A server that somebody else started: only the databases made here are ours. */
export class GivenPostgres implements TestPostgres {
  readonly canCrash = false;
  readonly host: string;
  readonly port: number;
  readonly #url: URL;
  readonly #made: string[] = [];

  constructor(url: string) {
    this.#url = new URL(url);
    this.host = this.#url.hostname;
    this.port = Number(this.#url.port || 5432);
  }

  async createDatabase(template = 'template1'): Promise<string> {
    const name = databaseName();
    await runOn(this.#url.href, `create database ${name} template ${template}`);
    this.#made.push(name);
    return Object.assign(new URL(this.#url), { pathname: `/${name}` }).href;
  }

  crash(): Promise<void> {
    throw new Error('the server of FLEETQ_TEST_POSTGRES_URL is not ours to crash');
  }

  start(): Promise<void> {
    return this.crash();
  }

  async remove(): Promise<void> {
    for (const name of this.#made.splice(0)) {
      await runOn(this.#url.href, `drop database if exists ${name} with (force)`);
    }
  }
}
