/**
 * Several real Postgres servers: one primary, and standbys that follow it by streaming. The primary can be
 * killed, a standby promoted, and the old primary brought back as a standby, from a copy of the new one's
 * data that is made while that one goes on.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CRASH_SIGNALS, type Crash, childrenOf, freePort, killIfThere, runOn } from './postgres.ts';
import { asUser, type Binaries, findBinaries } from './postgres-binaries.ts';
import { makePostgresData, placeForPostgres } from './postgres-data.ts';
import { removeTree } from './remove-tree.ts';

const MS_MAX = 60_000;
const LOOK_MS = 20;

export interface ClusterOptions {
  readonly standbys: number;
  /** A commit is answered once one of the standbys has it; otherwise at once. */
  readonly isQuorum: boolean;
  /** Lines of postgresql.conf, of each of them. */
  readonly settings?: readonly string[] | undefined;
}

interface Node {
  readonly name: string;
  readonly port: number;
  readonly data: string;
  server: ChildProcess | undefined;
  output: string;
}

export class PostgresCluster {
  readonly #binaries: Binaries = findBinaries();
  readonly #place = placeForPostgres('fleetq-postgres-cluster-');
  readonly #options: ClusterOptions;
  readonly #nodes: Node[] = [];
  #primary: Node;
  readonly #onExit = () => this.#nodes.forEach(({ server }) => void server?.kill('SIGQUIT'));

  static async start(options: ClusterOptions): Promise<PostgresCluster> {
    const ports = new Set<number>();
    while (ports.size < options.standbys + 1) ports.add(await freePort());
    const cluster = new PostgresCluster(options, [...ports]);
    try {
      await cluster.#begin();
    } catch (error) {
      await cluster.remove();
      throw error;
    }
    return cluster;
  }

  private constructor(options: ClusterOptions, ports: readonly number[]) {
    this.#options = options;
    for (const [index, port] of ports.entries()) {
      const name = `n${index + 1}`;
      const data = join(this.#place, name);
      this.#nodes.push({ name, port, data, server: undefined, output: '' });
    }
    this.#primary = this.#nodes[0]!;
    process.once('exit', this.#onExit);
  }

  /** Names all of them: whoever uses it finds the one that takes writes. */
  urlOf(database: string): string {
    const hosts = this.#nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `postgres://postgres@${hosts}/${database}?target_session_attrs=read-write`;
  }

  /** The primary's own address. */
  primaryUrl(database = 'postgres'): string {
    return urlOf(this.#primary, database);
  }

  async createDatabase(name: string): Promise<string> {
    await runOn(this.primaryUrl(), `create database ${name}`);
    return this.urlOf(name);
  }

  get primaryPort(): number {
    return this.#primary.port;
  }

  /** SIGKILL of the server and of all its children. */
  killPrimary(): Promise<void> {
    return this.crashPrimary('killAll');
  }

  async crashPrimary(how: Crash): Promise<void> {
    const children = how === 'killAll' ? childrenOf(this.#primary.server?.pid) : [];
    const ended = this.#end(this.#primary, CRASH_SIGNALS[how]);
    for (const child of children) killIfThere(child);
    await ended;
  }

  /** Standbys that stand still have nothing of what is committed meanwhile. */
  async stopStandbys(): Promise<void> {
    for (const node of this.#standbys()) await this.#end(node, 'SIGINT');
  }

  async startStandbys(): Promise<void> {
    for (const node of this.#standbys()) await this.#start(node);
  }

  /** The standby that has most becomes the primary; the others follow it. */
  async promote(): Promise<void> {
    const old = this.#primary;
    const positions = await Promise.all(
      this.#standbys().map(async (node) => ({ node, lsn: await receivedBy(node) })),
    );
    positions.sort((one, other) => (one.lsn < other.lsn ? 1 : -1));
    this.#primary = positions[0]!.node;
    await runOn(urlOf(this.#primary), 'select pg_promote(true, 60)');
    for (const node of this.#nodes) {
      if (node === this.#primary || node === old) continue;
      this.#writeConfig(node);
      await runOn(urlOf(node), 'select pg_reload_conf()');
    }
  }

  /** Those that are down start with what they have, and take writes if they did. */
  async startAsItWas(): Promise<void> {
    for (const node of this.#nodes) if (node.server === undefined) await this.#start(node);
  }

  /** Those that are down come back as standbys, with a copy of the primary's data. */
  async rejoin(): Promise<void> {
    for (const node of this.#nodes) {
      if (node.server !== undefined) continue;
      await this.#copyFromPrimary(node);
      await this.#start(node);
    }
    await this.followed();
  }

  /** Resolves once every standby follows the primary. */
  followed(): Promise<void> {
    return this.#streaming(this.#options.standbys);
  }

  async remove(): Promise<void> {
    process.off('exit', this.#onExit);
    await Promise.all(this.#nodes.map((node) => this.#end(node, 'SIGQUIT')));
    removeTree(this.#place);
    if (this.#binaries.copy) removeTree(this.#binaries.copy);
  }

  #standbys(): Node[] {
    return this.#nodes.filter((node) => node !== this.#primary);
  }

  async #begin(): Promise<void> {
    const { data } = this.#primary;
    makePostgresData(this.#binaries.initdb, data);
    appendFileSync(join(data, 'postgresql.conf'), "include 'cluster.conf'\n");
    for (const node of this.#standbys()) runAsUser('cp', ['-R', data, node.data]);
    for (const node of this.#standbys()) writeOwn(join(node.data, 'standby.signal'), '');
    for (const node of this.#nodes) await this.#start(node);
    await this.#streaming(this.#options.standbys);
  }

  #writeConfig(node: Node): void {
    const others = this.#nodes.filter((other) => other !== node).map(({ name }) => name);
    const quorum = this.#options.isQuorum ? `ANY 1 (${others.join(', ')})` : '';
    const { port } = this.#primary;
    const way = `host=127.0.0.1 port=${port} user=postgres application_name=${node.name}`;
    const lines = [
      `port = ${node.port}`,
      "listen_addresses = '127.0.0.1'",
      "unix_socket_directories = ''",
      'wal_level = replica',
      'max_wal_senders = 10',
      "wal_keep_size = '256MB'",
      "wal_retrieve_retry_interval = '100ms'",
      ...(this.#options.settings ?? []),
      `synchronous_standby_names = '${quorum}'`,
      ...(node === this.#primary ? [] : [`primary_conninfo = '${way}'`]),
    ];
    writeOwn(join(node.data, 'cluster.conf'), `${lines.join('\n')}\n`);
  }

  async #start(node: Node): Promise<void> {
    this.#writeConfig(node);
    const giveUpAt = performance.now() + MS_MAX;
    for (;;) {
      node.server ??= this.#spawn(node);
      const answered = await runOn(urlOf(node), 'select 1').catch(() => undefined);
      if (answered) return;
      const { exitCode, signalCode } = node.server;
      if (exitCode !== null || signalCode !== null) node.server = undefined;
      if (performance.now() > giveUpAt) throw new Error(`${node.name} fails:\n${node.output}`);
      await sleep(LOOK_MS);
    }
  }

  #spawn(node: Node): ChildProcess {
    const server = spawn(this.#binaries.postgres, ['-D', node.data], {
      ...asUser,
      cwd: this.#place,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server.stderr?.on('data', (chunk) => {
      node.output = `${node.output}${String(chunk)}`.slice(-5_000);
    });
    return server;
  }

  async #end(node: Node, signal: NodeJS.Signals): Promise<void> {
    const { server } = node;
    node.server = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  async #streaming(count: number): Promise<void> {
    const giveUpAt = performance.now() + MS_MAX;
    const ask = "select 1 from pg_stat_replication where state = 'streaming'";
    for (;;) {
      if ((await runOn(this.primaryUrl(), ask)).length >= count) return;
      if (performance.now() > giveUpAt) {
        throw new Error(`standbys do not follow:\n${this.#nodes.map((node) => node.output)}`);
      }
      await sleep(LOOK_MS);
    }
  }

  /** As pg_basebackup does it, with what the server itself offers. */
  async #copyFromPrimary(node: Node): Promise<void> {
    const client = new pg.Client(this.primaryUrl());
    await client.connect();
    try {
      await client.query("select pg_backup_start('rejoin', true)");
      removeTree(node.data);
      // What is removed while it is copied is put right by the WAL that is replayed.
      runAsUser('cp', ['-R', this.#primary.data, node.data], true);
      const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
      const wal = join(node.data, 'pg_wal');
      removeTree(wal);
      mkdirSync(wal, { mode: 0o700 });
      if (asUser.uid !== undefined) chownSync(wal, asUser.uid, asUser.gid!);
      rmSync(join(node.data, 'postmaster.pid'), { force: true });
      writeOwn(join(node.data, 'backup_label'), String(rows[0]?.labelfile));
      writeOwn(join(node.data, 'standby.signal'), '');
    } finally {
      await client.end();
    }
  }
}

function urlOf({ port }: Node, database = 'postgres'): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

/** How far it has got, in a form that can be compared. */
async function receivedBy(node: Node): Promise<bigint> {
  const [row] = await runOn<{ lsn: string }>(
    urlOf(node),
    `select (coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0')::text as lsn`,
  );
  return BigInt(row?.lsn ?? '0');
}

function writeOwn(file: string, text: string): void {
  writeFileSync(file, text);
  if (asUser.uid !== undefined) chownSync(file, asUser.uid, asUser.gid!);
}

function runAsUser(program: string, args: readonly string[], mayMiss = false): void {
  const { status, stderr } = spawnSync(program, args, { ...asUser, cwd: '/', encoding: 'utf8' });
  if (status === 0 || (mayMiss && existsSync(args.at(-1)!))) return;
  throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}
