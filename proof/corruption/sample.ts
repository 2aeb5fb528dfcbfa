/**
 * A small journal with something of everything: ended runs of every outcome, some with their events
 * pruned, live ones, waiting ones with timers, keys, dead letters; half of it in the database file,
 * half only in the WAL, and a mark with slots; as a process leaves it that was killed.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '../../src/ground/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import type { Ending, Outcome } from '../../src/machine/index.ts';
import { clockAt, RunWriter, runIdOf } from '../../test/journal/entries.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { codecIfTold } from '../../test/support/sealed.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { crashImage } from '../../test/support/temp-dir.ts';
import { type State, stateOf } from './state.ts';

export const NOW = 2_000_000;
export const FILES = ['journal.db', 'journal.db-wal', 'journal.mark'] as const;

export type FileName = (typeof FILES)[number];

export interface Sample {
  readonly name: 'killed' | 'closed';
  readonly files: Readonly<Partial<Record<FileName, Buffer>>>;
  readonly truth: State;
}

const OUTCOMES: readonly Outcome[] = [
  'completed',
  'exhausted',
  'handedOff',
  'aborted',
  'cancelled',
  'timedOut',
];

/** As a process leaves it that was killed, and as one that was closed: all in the database file. */
export async function makeSamples(): Promise<readonly Sample[]> {
  const directory = mkdtempSync(join(scratch(), 'fleetq-sample-'));
  try {
    const first = open(directory, 7);
    await Promise.all(range(0, 10).map((index) => endedRun(first, index)));
    await Promise.all(range(10, 16).map((index) => liveRun(first, index)));
    const before = everything(directory);
    first.prune({ events: 1_003, rows: 0 }, 100);
    first.takeDueTimers(NOW, 1);
    first.close();
    const second = open(directory);
    await Promise.all([
      ...range(16, 20).map((index) => liveRun(second, index)),
      ...range(20, 23).map((index) => endedRun(second, index)),
    ]);
    second.occupy([
      { slot: 0, run: runIdOf(10), seq: 1 },
      { slot: 2, run: runIdOf(16), seq: 0 },
    ]);
    const ever = [before, everything(directory)];
    // Copied while it is held: this is what a SIGKILL leaves.
    const killed = readFiles(directory);
    second.close();
    const closed = readFiles(directory);
    return [
      { name: 'killed', files: killed, truth: truthOf(directory, killed, ever) },
      { name: 'closed', files: closed, truth: truthOf(directory, closed, ever) },
    ];
  } finally {
    removeTree(directory);
  }
}

/** What the untouched files say, read by the same eyes as every image, and what they ever said. */
function truthOf(directory: string, files: Sample['files'], ever: readonly State[]): State {
  rmSync(directory, { recursive: true });
  mkdirSync(directory, { mode: 0o700 });
  layFiles(directory, files);
  const journal = open(directory);
  const truth = stateOf(journal, allIds());
  journal.close();
  const runs = new Map(
    [...truth.runs].map(([id, facts]) => {
      const row = JSON.parse(facts.row!) as Record<string, unknown>;
      const { finishedAt: _at, ending: _ending, ...live } = row;
      const everHashes = ever
        .map((state) => state.runs.get(id)?.hashes ?? [])
        .reduce((longest, hashes) => (hashes.length > longest.length ? hashes : longest));
      return [id, { ...facts, everHashes, liveRow: JSON.stringify(live) }];
    }),
  );
  return { ...truth, runs, everTimers: ever.flatMap((state) => state.timers) };
}

export function layFiles(directory: string, files: Sample['files']): void {
  for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(join(directory, name), bytes, { mode: 0o600 });
  }
}

/** What there is now, before something of it is pruned or taken. */
function everything(directory: string): State {
  const image = mkdtempSync(join(scratch(), 'fleetq-sample-'));
  try {
    const journal = open(crashImage(directory, join(image, 'data')));
    const all = stateOf(journal, allIds());
    journal.close();
    return all;
  } finally {
    removeTree(image);
  }
}

/** Another seed than the maker's: a journal that replaces a broken one has an id of its own. */
export function open(directory: string, seed = 8): SqliteJournal {
  const codec = codecIfTold();
  return SqliteJournal.open(directory, { clock: clockAt(NOW), random: seededRandom(seed), codec });
}

export function allIds(): RunId[] {
  return range(0, 23).map(runIdOf);
}

/** Memory, where there is a file system of it: the disk is not what is tested here. */
export function scratch(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

async function endedRun(journal: SqliteJournal, index: number): Promise<void> {
  const outcome = OUTCOMES[index % OUTCOMES.length]!;
  const run = new RunWriter(journal, runIdOf(index), {
    ...(index % 2 === 0 ? { key: `order-${index}` } : {}),
    at: 1_000 + index,
  });
  const ending: Ending =
    outcome === 'completed' || outcome === 'handedOff'
      ? { outcome, state: 'main.persist', output: { index } }
      : { outcome, state: 'main.work', reason: `because of ${index}` };
  await run.start();
  await run.done('main.work');
  await run.end(ending);
}

async function liveRun(journal: SqliteJournal, index: number): Promise<void> {
  const run = new RunWriter(journal, runIdOf(index), {
    machine: index % 2 === 0 ? 'sample/one' : 'sample/two',
    ...(index % 3 === 0 ? { key: `order-${index}` } : {}),
    at: 1_500 + index,
  });
  await run.start();
  await run.done('main.work');
  if (index % 2 === 0) await run.fail(NOW - 5 + (index - 12) * 1_000, true);
}

function readFiles(directory: string): Sample['files'] {
  const there = FILES.filter((name) => existsSync(join(directory, name)));
  return Object.fromEntries(there.map((name) => [name, readFileSync(join(directory, name))]));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
