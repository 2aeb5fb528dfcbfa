/**
 * Whether retention keeps up with the fastest rate there is: tasks end as fast as one pod runs them and are kept for
 * a minute. How many ended ones are there, how late the leader is, and what claims cost, minute by minute.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { say } from '../child.ts';
import { BenchDatabase, startBenchPod, wallMs } from '../fleet-pods.ts';
import { CLAIM_STATEMENT, newTask } from './tasks.ts';

const isFull = process.argv.includes('--full');
const MINUTES = isFull ? 20 : 3;
const MINUTE_MS = 60_000;
const RETENTION = '1m';
/** Enough that the pod never waits, and no more. */
const READY = 10_000;
const BATCH = 1_000;
const mint = runIdMint(systemClock, systemRandom);

export async function growthOfRetentionRate(): Promise<object> {
  const database = await BenchDatabase.start();
  const pod = await startBenchPod({ store: database.url, slots: 512, retention: RETENTION });
  const feed = new Feed(database);
  const rows: object[] = [];
  try {
    const feeding = feed.run();
    for (let minute = 1; minute <= MINUTES; minute++) {
      await database.statements();
      const [from, doneBefore] = [wallMs(), feed.done];
      await sleep(MINUTE_MS);
      const seconds = (wallMs() - from) / 1_000;
      const { meanMs: claimMs } = await database.costOf(CLAIM_STATEMENT);
      const [ended] = await database.ask(
        `select count(*)::float8 as count,
                coalesce(extract(epoch from now() - min(finished_at)), 0)::float8 as oldest
           from step_tracker where finished_at is not null`,
      );
      const row = {
        minute,
        runsPerSecond: Math.round((feed.done - doneBefore) / seconds),
        ended: ended!['count'],
        lateSeconds: Math.max(0, Math.round((ended!['oldest'] as number) - 60)),
        claimMs,
      };
      say(JSON.stringify(row));
      rows.push(row);
    }
    feed.stop();
    await feeding;
    return { retention: RETENTION, rows };
  } finally {
    feed.stop();
    await pod.kill();
    await database.stop();
  }
}

/** Keeps tasks ready, however fast they are done. */
class Feed {
  readonly #database: BenchDatabase;
  #sent = 0;
  #isStopped = false;
  /** Of those that were sent, as of the last look. */
  done = 0;

  constructor(database: BenchDatabase) {
    this.#database = database;
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const [row] = await this.#database.ask(
        `select count(*)::int as open from (
           select 1 from step_tracker where status in ('pending', 'waiting', 'claimed') limit $1) few`,
        [2 * READY],
      );
      const open = row!['open'] as number;
      this.done = this.#sent - open;
      for (let ready = open; ready < READY; ready += BATCH) await this.#send();
      await sleep(200);
    }
  }

  async #send(): Promise<void> {
    const tasks = Array.from({ length: BATCH }, () =>
      newTask(mint(), 'bench-trivial', ++this.#sent),
    );
    await this.#database.store.enqueue(tasks);
  }

  stop(): void {
    this.#isStopped = true;
  }
}
