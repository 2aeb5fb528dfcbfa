/**
 * A process that appends as fast as it can, many runs at once, and acknowledges each record in a file
 * outside the journal as soon as the journal says that it is durable.
 */
import { openSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { RunWriter, runIdOf } from './entries.ts';

export interface CommitTask {
  readonly dataDir: string;
  readonly acks: string;
  readonly runsAtOnce: number;
  readonly commits: number;
  /** Breaks the promise on purpose: shows that the test would see it. */
  readonly isLazy: boolean;
}

const task = JSON.parse(process.argv[2] ?? '{}') as CommitTask;
if (task.isLazy) makeLazy();
let commits = 0;
const journal = SqliteJournal.open(task.dataDir, {
  clock: systemClock,
  random: systemRandom,
  onCommit: () => {
    commits += 1;
  },
});
const acks = openSync(task.acks, 'a', 0o600);
let nextRun = 0;

async function writeRuns(): Promise<void> {
  while (commits < task.commits) {
    const run = new RunWriter(journal, runIdOf(nextRun++));
    await run.start();
    writeSync(acks, `${run.id} 0\n`);
    await run.done('main.work', { some: 'output' });
    writeSync(acks, `${run.id} 1\n`);
    await run.end({ outcome: 'completed', state: 'main.persist', output: null });
    writeSync(acks, `${run.id} 2\n`);
  }
}

await Promise.all(Array.from({ length: task.runsAtOnce }, writeRuns));
process.stdout.write(`${JSON.stringify({ commits })}\n`);
process.exit(0);

/** The driver as it would be if nobody had asked for FULL, and lied when it was asked. */
function makeLazy(): void {
  const { pragma } = Database.prototype;
  Database.prototype.pragma = function (this: Database.Database, text, options) {
    if (text === 'synchronous = FULL') return pragma.call(this, 'synchronous = NORMAL');
    return text === 'synchronous' ? 2 : pragma.call(this, text, options);
  };
}
