/** Pods in processes of their own, and a database for them to share. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { systemClock, systemRandom } from '../src/ground/index.ts';
import { openStore, type Store } from '../src/store/index.ts';
import { startPostgres, type TestPostgres } from '../test/support/postgres.ts';
import { removeTree } from '../test/support/remove-tree.ts';
import { cpuMsOfServer } from './cpu.ts';

export interface Began {
  readonly n: number;
  readonly at: number;
}

export interface BenchPod {
  readonly child: ChildProcess;
  readonly dataDir: string;
  /** When it said that it was ready, by the wall clock with fractions. */
  readonly readyAt: number;
  onBegan: (began: Began) => void;
  /** Ends it without a word; its disk goes too unless `isKept`. */
  kill(isKept?: boolean): Promise<void>;
  drain(): Promise<void>;
}

export const wallMs = (): number => performance.timeOrigin + performance.now();

/** On a new disk, or on the one that it is given. */
export async function startBenchPod(
  options: { readonly dataDir?: string; readonly [option: string]: unknown },
  onMessage?: (message: {
    readonly kind: string;
    readonly run: string;
    readonly place: string;
    readonly ms?: number;
  }) => void,
): Promise<BenchPod> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'fleetq-bench-'));
  const program = fileURLToPath(new URL('fleet-child.mjs', import.meta.url));
  const child = fork(program, [JSON.stringify({ ...options, dataDir })], {
    // Plain Node.js, whatever this process was started with.
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let ready: (at: number) => void;
  const isReady = new Promise<number>((resolve, reject) => {
    ready = resolve;
    child.once('exit', () => reject(new Error('a pod ended before it was ready')));
  });
  const exited = once(child, 'exit');
  if (onMessage) child.on('message', onMessage);
  const state = { onBegan: (_began: Began) => {} };
  child.on('message', (message: { kind: string } & Began) => {
    if (message.kind === 'ready') ready(message.at);
    else if (message.kind === 'began') state.onBegan(message);
  });
  const readyAt = await isReady;
  return Object.assign(state, {
    child,
    dataDir,
    readyAt,
    async kill(isKept = false) {
      child.kill('SIGKILL');
      await exited;
      if (!isKept) removeTree(dataDir);
    },
    async drain() {
      if (child.exitCode === null) child.send('drain');
      await exited;
      removeTree(dataDir);
    },
  });
}

/** A database that counts its statements. */
export class BenchDatabase {
  readonly url: string;
  readonly store: Store;
  readonly #server: TestPostgres;
  readonly #client: pg.Client;

  private constructor(server: TestPostgres, url: string, store: Store, client: pg.Client) {
    this.#server = server;
    this.url = url;
    this.store = store;
    this.#client = client;
  }

  static async start(): Promise<BenchDatabase> {
    const server = await startPostgres([
      'shared_preload_libraries=pg_stat_statements',
      'shared_buffers=512MB',
      'max_wal_size=4GB',
      'max_connections=400',
    ]);
    const url = await server.createDatabase();
    const [clock, random] = [systemClock, systemRandom];
    const store = await openStore(url, { clock, random, migrates: true, deadlineMs: 120_000 });
    const client = new pg.Client(url);
    await client.connect();
    await client.query('create extension if not exists pg_stat_statements');
    // Whoever only looks must not read the table fifty times a second on the cores that are measured.
    await client.query('/* bench: */ set enable_seqscan = off');
    return new BenchDatabase(server, url, store, client);
  }

  /** Statements of others than this connection since the last time it was asked. */
  async statements(): Promise<number> {
    const { rows } = await this.#client.query<{ calls: string }>(
      "select coalesce(sum(calls), 0) as calls from pg_stat_statements where query not like '%bench:%'",
    );
    await this.#client.query('/* bench: */ select pg_stat_statements_reset()');
    return Number(rows[0]!.calls);
  }

  /** What the server has used of the CPU so far, and written to its log. */
  async spent(): Promise<{ cpuMs: number; walBytes: number }> {
    const [row] = await this.ask(
      `select pg_backend_pid() as pid, (pg_current_wal_insert_lsn() - '0/0')::float8 as wal`,
    );
    return { cpuMs: cpuMsOfServer(Number(row!['pid'])), walBytes: Number(row!['wal']) };
  }

  /** A statement of the bench's own, which no figure counts. */
  async ask(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.#client.query(`/* bench: */ ${text}`, [...values])).rows;
  }

  /** What statements with this in their text have cost since the statistics were last reset. */
  async costOf(
    part: string,
  ): Promise<{ calls: number; meanMs: number; maxMs: number; pages: number }> {
    const [row = {}] = await this.ask(
      `select sum(calls)::float8 as calls, sum(total_exec_time) / sum(calls) as mean,
              max(max_exec_time) as max,
              sum(shared_blks_hit + shared_blks_read)::float8 / sum(calls) as pages
         from pg_stat_statements
        where position($1 in query) > 0 and query not like '%bench:%'`,
      [part],
    );
    const of = (name: string) => Math.round(Number(row[name] ?? 0) * 10) / 10;
    return { calls: of('calls'), meanMs: of('mean'), maxMs: of('max'), pages: of('pages') };
  }

  /** By the small indexes as long as they answer; the whole table is looked at for the last word. */
  async openCount(): Promise<number> {
    const { rows: open } = await this.#client.query<{ is_open: boolean }>(
      `select /* bench: */ exists (select 1 from step_tracker where claimed_by is not null)
         or exists (select 1 from step_tracker where status = 'pending' and not paused
                      and crashes < 2 and pinned_to is null) as is_open`,
    );
    if (open[0]!.is_open) return 1;
    const { rows } = await this.#client.query<{ count: string }>(
      `select /* bench: */ count(*) as count from (
         select 1 from step_tracker where status in ('pending', 'waiting', 'claimed') limit 1) open`,
    );
    return Number(rows[0]!.count);
  }

  /** Rows straight into the table: by the hundred thousand. */
  async fill(machine: string, count: number, status: 'pending' | 'completed'): Promise<void> {
    const ended = status === 'completed';
    await this.#client.query(
      `/* bench: */ insert into step_tracker (machine, payload, status, outcome, result, finished_at)
       select $1, '{"n":1}', $2, case when $3 then 'completed' end, case when $3 then '1' end,
              case when $3 then clock_timestamp() end
         from generate_series(1, $4)`,
      [machine, status, ended, count],
    );
    await this.#client.query('/* bench: */ analyze step_tracker');
  }

  async clear(): Promise<void> {
    await this.#client.query('/* bench: */ truncate step_tracker, run_events');
    await this.#client.query(
      "/* bench: */ delete from pod_health where status in ('dead', 'down')",
    );
  }

  async stop(): Promise<void> {
    await this.store.close();
    await this.#client.end();
    await this.#server.remove();
  }
}
