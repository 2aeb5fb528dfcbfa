/**
 * Appends to many runs at once until it is killed. Each record that the journal calls durable is noted
 * in a ledger outside, synced, before the run goes on.
 */
import { writeSync } from 'node:fs';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { Ledger } from '../support/ledger.ts';
import { RunWriter, runIdOf } from './entries.ts';

export interface AppendTask {
  readonly dataDir: string;
  readonly ledger: string;
  readonly firstRun: number;
}
export interface Ack {
  readonly run: string;
  readonly seq: number;
}

const RUNS_AT_ONCE = 8;
const task = JSON.parse(process.argv[2] ?? '{}') as AppendTask;
const journal = SqliteJournal.open(task.dataDir, { clock: systemClock, random: systemRandom });
const ledger = new Ledger(task.ledger);
let nextRun = task.firstRun;
writeSync(1, `${JSON.stringify(journal.alarms)}\n`);

async function writeRuns(): Promise<never> {
  while (true) {
    const run = new RunWriter(journal, runIdOf(nextRun++));
    const ack = () => ledger.write({ run: run.id, seq: run.seq });
    await run.start();
    ack();
    await run.done('main.work', { bytes: 'x'.repeat(nextRun % 3_000) });
    ack();
    await run.fail(systemClock.now() + 1_000, true);
    ack();
    await run.end({ outcome: 'exhausted', state: 'main.work', reason: 'as planned' });
    ack();
    if (nextRun % 50 === 0) journal.prune({ events: 0, rows: 0 }, 10);
    if (nextRun % 20 === 0) journal.takeDueTimers(systemClock.now(), 5);
  }
}

await Promise.all(Array.from({ length: RUNS_AT_ONCE }, writeRuns));
