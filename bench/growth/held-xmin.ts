/**
 * What a transaction costs that is held open elsewhere, so that nothing that ended since can be removed from the
 * tables: claims, pickup and backlog of one pod of 64 slots that is given 500 tasks a second, minute by minute.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { say } from '../child.ts';
import { BenchDatabase, startBenchPod, wallMs } from '../fleet-pods.ts';
import { CLAIM_STATEMENT, newTask, sharesOf } from './tasks.ts';

const HELD_MINUTES = process.argv.includes('--full') ? 15 : 3;
/** So that the bench itself can be tried. */
const MINUTE_MS = process.argv.includes('--brief') ? 10_000 : 60_000;
const PER_SECOND = 500;
const BATCH = 10;
const mint = runIdMint(systemClock, systemRandom);

export async function growthOfHeldXmin(): Promise<object> {
  const database = await BenchDatabase.start();
  const holder = new pg.Client(database.url);
  try {
    await holder.connect();
    const load = await Load.start(database);
    const rows: object[] = [];
    const minute = async (kind: string) => {
      const row = { minute: rows.length + 1, kind, ...(await load.minute()) };
      say(JSON.stringify(row));
      rows.push(row);
    };
    await minute('free');
    await holder.query('begin isolation level repeatable read');
    await holder.query('select txid_current()');
    for (let n = 0; n < HELD_MINUTES; n++) await minute('held');
    await holder.query('rollback');
    await minute('free');
    await load.stop();
    return { perSecond: PER_SECOND, rows };
  } finally {
    await holder.end();
    await database.stop();
  }
}

/** A pod, and the tasks that it is given at one rate. */
class Load {
  readonly #database: BenchDatabase;
  #pod: Awaited<ReturnType<typeof startBenchPod>> | undefined;
  readonly #enqueuedAt = new Map<number, number>();
  #pickups: number[] = [];
  #claims: number[] = [];
  #count = 0;
  #isStopped = false;
  #feeding: Promise<void> | undefined;

  private constructor(database: BenchDatabase) {
    this.#database = database;
  }

  static async start(database: BenchDatabase): Promise<Load> {
    const load = new Load(database);
    load.#pod = await startBenchPod(
      { store: database.url, slots: 64, tellsClaims: true },
      ({ kind, ms = 0 }) => kind === 'claim' && load.#claims.push(ms),
    );
    load.#pod.onBegan = ({ n, at }) => {
      load.#pickups.push(at - load.#enqueuedAt.get(n)!);
      load.#enqueuedAt.delete(n);
    };
    load.#feeding = load.#feed();
    return load;
  }

  async #feed(): Promise<void> {
    const from = wallMs();
    while (!this.#isStopped) {
      const due = Math.floor(((wallMs() - from) / 1_000) * PER_SECOND) - BATCH;
      if (this.#count > due) await sleep(2);
      else await this.#enqueue();
    }
  }

  async #enqueue(): Promise<void> {
    const tasks = Array.from({ length: BATCH }, () => {
      this.#enqueuedAt.set(++this.#count, wallMs());
      return newTask(mint(), 'bench-pickup', this.#count);
    });
    await this.#database.store.enqueue(tasks);
  }

  async minute(): Promise<object> {
    await this.#database.statements();
    [this.#pickups, this.#claims] = [[], []];
    const from = wallMs();
    await sleep(MINUTE_MS);
    const seconds = (wallMs() - from) / 1_000;
    const { pages } = await this.#database.costOf(CLAIM_STATEMENT);
    const { meanMs: heartbeatMs } = await this.#database.costOf('beaten');
    return {
      claimMs: sharesOf(this.#claims),
      pagesPerClaim: pages,
      runsPerSecond: Math.round(this.#pickups.length / seconds),
      pickupMs: sharesOf(this.#pickups),
      backlog: this.#enqueuedAt.size,
      heartbeatMs,
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#feeding;
    await this.#pod?.kill();
  }
}
