/** Opens damaged images, one after another, and says of each what came of it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { hash } from '../../src/ground/index.ts';
import type { SqliteJournal } from '../../src/journal/index.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { type Damage, type Image, imageOf } from './images.ts';
import { type Judgement, judge } from './judge.ts';
import { allIds, layFiles, open, type Sample, scratch } from './sample.ts';
import { stateOf } from './state.ts';

export interface WorkerTask {
  readonly samples: readonly Sample[];
  readonly damages: readonly Damage[];
  /** How many of them are done, for whoever watches that this one does not hang. */
  readonly progress: Int32Array;
}
export interface WorkerReport {
  readonly counts: Readonly<Record<string, number>>;
  readonly silent: readonly string[];
}

/** An image that opens as it is, is opened a second time only now and then, for speed. */
const SECOND_OPEN_EVERY = 16;

function run({ samples, damages, progress }: WorkerTask): WorkerReport {
  const directory = mkdtempSync(join(scratch(), 'fleetq-corruption-'));
  const counts: Record<string, number> = {};
  const silent: string[] = [];
  try {
    damages.forEach((damage, done) => {
      Atomics.store(progress, 0, done);
      const image = imageOf(samples, damage);
      const { verdict, why } = judgeImage(image, directory, done);
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      if (verdict === 'silent') silent.push(`${image.name}: ${why}`);
    });
  } finally {
    removeTree(directory);
  }
  return { counts, silent };
}

/** Verdicts by what an image has become: the answers of a journal follow from the bytes it has. */
const known = new Map<string, Judgement>();

export function judgeImage(image: Image, directory: string, index: number): Judgement {
  const data = join(directory, 'data');
  const isAgain = index % SECOND_OPEN_EVERY < 2;
  try {
    lay(image, data);
    const journal = open(data);
    // A changed byte of the database file makes it like no other; there is nothing to look up.
    if (image.how === 'flip' && image.file === 'journal.db') {
      const judgement = judgeOpen(image, journal);
      if (isAgain || judgement.verdict === 'putAside') open(data).close();
      return judgement;
    }
    const { alarms, evidence, boot } = journal;
    journal.close();
    const kinds = alarms.map((alarm) => alarm.kind);
    const occupied = evidence.isComplete ? [...evidence.occupied] : 'unknown';
    const key = hash(
      JSON.stringify([image.sample.name, kinds, boot, occupied]) +
        readFileSync(join(data, 'journal.db'), 'latin1'),
    );
    // What is new, and every now and then any other, is opened once more: it must not fail for ever.
    if (isAgain || !known.has(key)) open(data).close();
    const judgement = known.get(key) ?? judgeAnew(image, data);
    known.set(key, judgement);
    return judgement;
  } catch (error) {
    // Whatever is thrown here would be thrown at every start: a crash loop.
    removeTree(data);
    return { verdict: 'silent', why: `threw ${(error as Error).stack?.slice(0, 600)}` };
  }
}

function judgeAnew(image: Image, data: string): Judgement {
  lay(image, data);
  return judgeOpen(image, open(data));
}

function judgeOpen(image: Image, journal: SqliteJournal): Judgement {
  try {
    const isOneBit = image.how === 'flip' && image.file === 'journal.db';
    return judge(image.sample.truth, stateOf(journal, allIds()), isOneBit);
  } finally {
    journal.close();
  }
}

function lay({ sample, file, bytes }: Image, data: string): void {
  if (!existsSync(data)) mkdirSync(data, { mode: 0o700 });
  for (const name of readdirSync(data)) {
    // The ballast says nothing; writing it anew each time would take most of the time.
    if (name !== 'ballast') rmSync(join(data, name), { recursive: true });
  }
  layFiles(data, { ...sample.files, [file]: bytes });
}

if (parentPort) {
  const task = workerData as WorkerTask;
  parentPort.postMessage(run({ ...task, samples: task.samples.map(withBuffers) }));
}

/** A Buffer arrives as the plain bytes it is made of. */
function withBuffers(sample: Sample): Sample {
  const whole = Object.entries(sample.files).map(([name, bytes]) => [name, Buffer.from(bytes)]);
  return { ...sample, files: Object.fromEntries(whole) as Sample['files'] };
}
