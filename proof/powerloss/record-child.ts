/**
 * The process whose disk is watched: writes a small journal with something of everything, and says in
 * a file outside it what it was told is durable, in the order it was told.
 */
import { openSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { SqliteJournal } from '../../src/journal/index.ts';
import { clockAt, RunWriter, runIdOf } from '../../test/journal/entries.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import type { Ack } from './recording.ts';

export interface RecordTask {
  readonly dataDir: string;
  readonly acks: string;
  /** What SQLite is told; anything but FULL breaks the promise, to show that it is seen. */
  readonly synchronous: 'FULL' | 'NORMAL' | 'OFF';
}

const NOW = 2_000_000;
/** Small, so that the WAL is moved into the database file, and begun anew, many times. */
const CHECKPOINT_PAGES = 24;

const task = JSON.parse(process.argv[2] ?? '{}') as RecordTask;
setUpDriver();
const fd = openSync(task.acks, 'a', 0o600);
const say = (ack: Ack) => writeSync(fd, `${JSON.stringify(ack)}\n`);

const first = open();
await Promise.all(range(0, 4).map((index) => endedRun(first, index)));
first.occupy([{ slot: 0, run: runIdOf(4), seq: 0 }]);
await Promise.all(range(4, 7).map((index) => liveRun(first, index)));
first.occupy([{ slot: 1, run: runIdOf(5), seq: 1 }]);
say({ say: 'pruning', runs: [runIdOf(0), runIdOf(1)] });
first.prune({ events: 1_004, rows: 0 }, 10);
say({ say: 'taking' });
first.takeDueTimers(NOW, 1);
first.vacate([1]);
await endedRun(first, 7);
first.vacate();
first.close();
const second = open();
second.occupy([{ slot: 2, run: runIdOf(8), seq: 0 }]);
for (const index of range(8, 11)) await (index % 2 ? liveRun : endedRun)(second, index);
await Promise.all(range(11, 15).map((index) => endedRun(second, index)));
process.exit(0);

function open(): SqliteJournal {
  const journal = SqliteJournal.open(task.dataDir, {
    clock: clockAt(NOW),
    random: seededRandom(5),
  });
  say({ say: 'opened', id: journal.id, boot: journal.boot });
  const append = journal.append.bind(journal);
  journal.append = async (entry) => {
    const appended = await append(entry);
    const { run, seq, wakeAt, closes } = entry;
    say({ say: 'durable', run, seq, hash: appended.hash, wakeAt, ending: closes?.ending });
    return appended;
  };
  return journal;
}

async function endedRun(journal: SqliteJournal, index: number): Promise<void> {
  const run = new RunWriter(journal, runIdOf(index), { key: `order-${index}`, at: 1_000 + index });
  await run.start();
  await run.done('main.work', { made: 'x'.repeat(index * 300) });
  const isGood = index % 3 !== 0;
  await run.end(
    isGood
      ? { outcome: 'completed', state: 'main.persist', output: { index } }
      : { outcome: 'exhausted', state: 'main.work', reason: `because of ${index}` },
  );
}

async function liveRun(journal: SqliteJournal, index: number): Promise<void> {
  const run = new RunWriter(journal, runIdOf(index), { at: 1_500 + index });
  await run.start();
  await run.done('main.work');
  await run.fail(NOW - 5 + (index - 4) * 1_000, true);
}

function setUpDriver(): void {
  const { pragma } = Database.prototype;
  Database.prototype.pragma = function (this: Database.Database, text, options) {
    if (text === 'synchronous') return 2;
    if (text !== 'synchronous = FULL') return pragma.call(this, text, options);
    pragma.call(this, `wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    return pragma.call(this, `synchronous = ${task.synchronous}`);
  };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
