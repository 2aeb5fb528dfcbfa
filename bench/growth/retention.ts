/**
 * How soon ended tasks are removed, and what the question costs whether any is old enough, as more and more of
 * them are kept. One pod leads and does nothing else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from '../child.ts';
import { BenchDatabase, startBenchPod, wallMs } from '../fleet-pods.ts';

const isFull = process.argv.includes('--full');
const KEPT = isFull ? [100_000, 1_000_000, 4_000_000] : [50_000, 500_000];
const DUE = 250_000;
const SECONDS_MAX = 60;
const FILL_COUNT = 100_000;

export async function growthOfRetention(): Promise<object> {
  const rows: object[] = [];
  for (const kept of KEPT) rows.push(await measured(kept));
  return { due: DUE, rows };
}

async function measured(kept: number): Promise<object> {
  const database = await BenchDatabase.start();
  try {
    // What is kept ended before what is due in the table, and after it in time.
    await fill(database, kept, '1 minute');
    await fill(database, DUE, '3 hours');
    await database.ask('analyze step_tracker');
    await database.statements();
    const pod = await startBenchPod({ store: database.url, retention: '2h' });
    const from = wallMs();
    const left = async () =>
      Number(
        (
          await database.ask(
            `select count(*) as count from step_tracker
            where finished_at is not null and finished_at < now() - interval '2 hours'`,
          )
        )[0]!['count'],
      );
    let due = await left();
    while (due > 0 && wallMs() - from < SECONDS_MAX * 1_000) {
      await sleep(500);
      due = await left();
    }
    const seconds = (wallMs() - from) / 1_000;
    const question = await database.costOf('has_old');
    await pod.kill();
    const row = { kept, removed: DUE - due, left: due, seconds, question };
    say(`${kept} kept: ${JSON.stringify(row)}`);
    return row;
  } finally {
    await database.stop();
  }
}

async function fill(database: BenchDatabase, count: number, ago: string): Promise<void> {
  for (let from = 0; from < count; from += FILL_COUNT) {
    await database.ask(
      `insert into step_tracker (machine, payload, status, outcome, result, finished_at)
       select 'bench-trivial', '{"n":1}', 'completed', 'completed', '1',
              clock_timestamp() - $1::interval
         from generate_series(1, $2::int)`,
      [ago, Math.min(FILL_COUNT, count - from)],
    );
  }
}
