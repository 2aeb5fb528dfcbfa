/**
 * Many tasks of few keys, in a queue with a limit, on pods that are killed at random moments. Whether two
 * of a key ran at once, and in which order, is read from a ledger outside; how many were claimed at once
 * is asked of the store, all the time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Random, runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { migratePostgresStore } from '../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import { newTask } from '../../test/store/factories.ts';
import { readLedger } from '../../test/support/ledger.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { below, seededRandom } from '../../test/support/seeded-random.ts';
import { type FlowLine, type FlowVerdict, judgeFlow, nameOf } from './flow-judge.ts';

export interface FlowOptions {
  readonly keys: number;
  readonly tasks: number;
  readonly pods: number;
  readonly kills: number;
  readonly limit: number;
  readonly workMs: number;
  readonly seed: number;
  readonly secondsMax: number;
}

export interface FlowReport extends FlowVerdict {
  readonly keys: number;
  readonly tasks: number;
  readonly kills: number;
  readonly limit: number;
  /** The most that were claimed at once. */
  readonly claimedMax: number;
  /** How often that was asked. */
  readonly looks: number;
  /** Given up, since three of their pods were killed. */
  readonly failed: number;
  readonly seconds: number;
}

const PROGRAM = fileURLToPath(new URL('./pod.mjs', import.meta.url));
const QUEUE = 'turns';
const BATCH = 500;
const ERROR_LENGTH_MAX = 2_000;
const OPTIONS = { clock: systemClock, random: systemRandom };

export async function runFlow(options: FlowOptions): Promise<FlowReport> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-flow-'));
  const server = await startPostgres(['fsync=off']);
  const url = await server.createDatabase();
  await migratePostgresStore(url, OPTIONS);
  const store = await openPostgresStore(url, OPTIONS);
  const house = new House(options, directory, url);
  const begunAt = Date.now();
  try {
    const keys = await enqueueAll(store, options);
    house.open();
    const { claimedMax, looks } = await untilDone(url, house, options, begunAt);
    const failed = await store.list({ isDeadLetter: true, countMax: 1_000 });
    const excused = failed.map(({ payload }) => {
      const { key, number } = JSON.parse(payload!) as FlowLine;
      return nameOf(key, number);
    });
    const lines = readLedger<FlowLine>(join(directory, 'ledger'));
    return {
      ...{ keys: options.keys, tasks: options.tasks, kills: house.kills, limit: options.limit },
      ...judgeFlow(lines, { keys, tasks: options.tasks }, new Set(excused)),
      ...{ claimedMax, looks, failed: failed.length },
      seconds: Math.round((Date.now() - begunAt) / 100) / 10,
    };
  } finally {
    await house.close();
    await store.close();
    await server.remove();
    removeTree(directory);
  }
}

/** Round and round the keys, so that the tasks of each come in between those of all the others. */
async function enqueueAll(store: Store, options: FlowOptions): Promise<string[]> {
  const keys = Array.from({ length: options.keys }, (_, index) => `key-${index}`);
  const deed = { what: 'queue.limit', queue: QUEUE, limit: options.limit } as const;
  await store.changeFlow({ requestId: 'limit', who: 'flow', via: 'test', deed });
  const mint = runIdMint(systemClock, systemRandom);
  const tasks = Array.from({ length: options.tasks }, (_, number) =>
    keys.map((key) => {
      const payload = JSON.stringify({ key, number });
      const words = { machine: 'flow/turn', queue: QUEUE, serialKey: key };
      return newTask({ id: mint(), payload, ...words });
    }),
  ).flat();
  for (let start = 0; start < tasks.length; start += BATCH) {
    await store.enqueue(tasks.slice(start, start + BATCH));
  }
  return keys;
}

interface Seen {
  readonly claimedMax: number;
  readonly looks: number;
}

async function untilDone(
  url: string,
  house: House,
  options: FlowOptions,
  begunAt: number,
): Promise<Seen> {
  const client = new pg.Client(url);
  await client.connect();
  let [claimedMax, looks] = [0, 0];
  const total = options.keys * options.tasks;
  try {
    for (;;) {
      const { rows } = await client.query<{ claimed: number; done: number }>(
        `select (select count(*)::int from step_tracker where claimed_by is not null
                  and queue = '${QUEUE}') as claimed,
                (select count(*)::int from step_tracker where finished_at is not null
                  and queue = '${QUEUE}') as done`,
      );
      const { claimed, done } = rows[0]!;
      claimedMax = Math.max(claimedMax, claimed);
      looks += 1;
      house.advance(done / total);
      if (done === total && house.kills >= options.kills) return { claimedMax, looks };
      const isLate = Date.now() - begunAt > options.secondsMax * 1_000;
      if (done === total || isLate) return { claimedMax, looks };
      await sleep(10);
    }
  } finally {
    await client.end();
  }
}

/** The pods: each is started again when it was killed, over a journal of its own. */
class House {
  readonly #options: FlowOptions;
  readonly #directory: string;
  readonly #url: string;
  readonly #random: Random;
  readonly #children = new Map<number, ChildProcess>();
  readonly #ready = new Set<number>();
  #isClosed = false;
  #failure: Error | undefined;
  kills = 0;

  constructor(options: FlowOptions, directory: string, url: string) {
    this.#options = options;
    this.#directory = directory;
    this.#url = url;
    this.#random = seededRandom(options.seed);
  }

  open(): void {
    for (let pod = 0; pod < this.#options.pods; pod += 1) this.#start(pod);
  }

  /** Kills as it goes along, so that they are spread over all the work. */
  advance(share: number): void {
    if (this.#failure) throw this.#failure;
    const { kills } = this.#options;
    if (this.kills >= kills || this.kills >= share * (kills + 1)) return;
    const ready = [...this.#ready];
    const pod = ready[below(this.#random, ready.length || 1)];
    // One at least goes on, so that somebody sweeps.
    if (pod === undefined || ready.length < 2) return;
    this.kills += 1;
    this.#ready.delete(pod);
    this.#children.get(pod)?.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#children.values()].map(async (child) => {
        const ended = new Promise((resolve) => child.once('close', resolve));
        child.kill('SIGKILL');
        await ended;
      }),
    );
  }

  #start(pod: number): void {
    const given = {
      ledger: join(this.#directory, 'ledger'),
      workMs: this.#options.workMs,
      dataDir: join(this.#directory, `pod-${pod}`),
      store: this.#url,
      podName: `pod-${pod}`,
      slots: 16,
      heartbeat: '300ms',
      silence: '1500ms',
    };
    const argv = [PROGRAM, JSON.stringify(given)];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.set(pod, child);
    child.stdout?.once('data', () => this.#ready.add(pod));
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = `${errors}${text}`.slice(-ERROR_LENGTH_MAX);
    });
    child.once('close', (code, signal) => {
      if (signal !== 'SIGKILL') this.#failure ??= new Error(`a pod ended with ${code}: ${errors}`);
      this.#children.delete(pod);
      this.#ready.delete(pod);
      if (!this.#isClosed && !this.#failure) this.#start(pod);
    });
  }
}
