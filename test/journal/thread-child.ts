/**
 * Holds a journal and does, inside the same process, what makes the kernel drop its lock on the
 * journal's file; says how that went, and holds on until it is killed. For every line that it is
 * given it writes a run, some seconds later by its own clock, and says what came of it.
 */
import { copyFileSync, cpSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { SqliteJournal, verifyJournal } from '../../src/journal/index.ts';
import { RunWriter, runIdOf } from './entries.ts';

interface Task {
  readonly dataDir: string;
  readonly how: 'thread opens' | 'thread reads' | 'file is copied' | 'directory is copied';
  readonly copyTo: string;
}

function attempt(act: () => unknown): string {
  try {
    act();
    return 'done';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

let aheadMs = 0;
const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
const say = (text: string) => writeSync(1, `${text}\n`);
const open = (dataDir: string) =>
  SqliteJournal.open(dataDir, {
    clock,
    random: systemRandom,
    onStall: (error) => say(error.message),
  });

function writeRuns(journal: SqliteJournal): void {
  let count = 0;
  process.stdin.on('data', () => {
    aheadMs += 5_000;
    const run = new RunWriter(journal, runIdOf(++count));
    run.start().then(
      () => say('acknowledged'),
      () => undefined,
    );
  });
}

async function inThread(task: Task): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: task });
  await new Promise((resolve) => worker.once('exit', resolve));
}

if (isMainThread) {
  const task = JSON.parse(process.argv[2] ?? '{}') as Task;
  const journal = open(task.dataDir);
  if (task.how.startsWith('thread')) await inThread(task);
  if (task.how === 'file is copied') {
    writeSync(
      1,
      attempt(() => copyFileSync(join(task.dataDir, 'journal.db'), task.copyTo)),
    );
  }
  if (task.how === 'directory is copied') {
    writeSync(
      1,
      attempt(() => cpSync(task.dataDir, task.copyTo, { recursive: true })),
    );
  }
  writeSync(1, '\n');
  writeRuns(journal);
} else {
  const { dataDir, how } = workerData as Task;
  const act = how === 'thread opens' ? () => open(dataDir) : () => verifyJournal(dataDir);
  writeSync(1, attempt(act));
}
