/** What the leader's census costs Postgres, as the table grows. One pod leads and does nothing else. */
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from '../child.ts';
import { BenchDatabase, startBenchPod } from '../fleet-pods.ts';

const isFull = process.argv.includes('--full');
const ROWS = isFull ? [0, 30_000, 1_000_000, 4_000_000] : [0, 30_000, 300_000];
/** Two turns of the census. */
const WATCH_MS = 35_000;

export async function growthOfCensus(): Promise<object> {
  const database = await BenchDatabase.start();
  const rows: object[] = [];
  let there = 0;
  try {
    for (const count of ROWS) {
      await database.fill('bench-trivial', count - there, 'completed');
      there = count;
      await database.statements();
      const pod = await startBenchPod({ store: database.url });
      await sleep(WATCH_MS);
      const census = await database.costOf('as dead_letters');
      await pod.drain();
      rows.push({ rows: count, census });
      say(`${count} rows: ${JSON.stringify(census)}`);
    }
    return { rows };
  } finally {
    await database.stop();
  }
}
