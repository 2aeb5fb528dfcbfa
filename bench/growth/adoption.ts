/**
 * How long the runs of a pod stand after it was killed, until the next process on its disk goes on with all of
 * them: as many as were in a slow call. The silence of the pod plays no part, since the disk proves it dead.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { say } from '../child.ts';
import { BenchDatabase, startBenchPod, wallMs } from '../fleet-pods.ts';
import { newTask } from './tasks.ts';

const isFull = process.argv.includes('--full');
const COUNTS = isFull ? [1_000, 3_000, 10_000] : [1_000, 3_000];
const MS_MAX = 120_000;
const mint = runIdMint(systemClock, systemRandom);

export async function growthOfAdoption(): Promise<object> {
  const rows: object[] = [];
  for (const count of COUNTS) rows.push(await measured(count));
  return { rows };
}

async function measured(count: number): Promise<object> {
  const database = await BenchDatabase.start();
  try {
    for (let from = 0; from < count; from += 1_000) {
      const batch = Array.from({ length: 1_000 }, (_, index) =>
        newTask(mint(), 'bench-held', from + index),
      );
      await database.store.enqueue(batch);
    }
    const options = { store: database.url, slots: 2 * count, tellsPhases: true, archive: '1s' };
    const started = new Inside();
    const first = await startBenchPod(options, started.note);
    await started.reach(count);
    // What was done is in the store.
    await sleep(5_000);
    await first.kill(true);
    await database.statements();
    const killedAt = wallMs();
    const goneOn = new Inside();
    const next = await startBenchPod({ ...options, dataDir: first.dataDir }, goneOn.note);
    await goneOn.reach(count);
    const row = {
      runs: count,
      readyMs: Math.round(next.readyAt - killedAt),
      goneOnMs: Math.round(wallMs() - killedAt),
      takeTasks: await database.costOf('left_behind'),
    };
    await next.kill();
    say(JSON.stringify(row));
    return row;
  } finally {
    await database.stop();
  }
}

/** The runs of a pod that are in their slow call. */
class Inside {
  readonly #runs = new Set<string>();

  note = ({ kind, run, place }: { kind: string; run: string; place: string }): void => {
    if (kind === 'phase' && place === 'second.work') this.#runs.add(run);
  };

  async reach(count: number): Promise<void> {
    const giveUpAt = wallMs() + MS_MAX;
    while (this.#runs.size < count) {
      if (wallMs() > giveUpAt) throw new Error(`${this.#runs.size} of ${count} after ${MS_MAX} ms`);
      await sleep(10);
    }
  }
}
