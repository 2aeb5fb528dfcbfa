/** Opens damaged images, one after another, and says of each what came of it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { type Image, imageAt } from './images.ts';
import { type Judgement, judge } from './judge.ts';
import { allIds, FILES, open, type Sample, scratch } from './sample.ts';
import { stateOf } from './state.ts';

export interface WorkerTask {
  readonly sample: Sample;
  readonly indexes: readonly number[];
  /** How many of them are done, for whoever watches that this one does not hang. */
  readonly progress: Int32Array;
}
export interface WorkerReport {
  readonly counts: Readonly<Record<string, number>>;
  readonly silent: readonly string[];
}

/** An image that opens as it is, is opened a second time only now and then, for speed. */
const SECOND_OPEN_EVERY = 16;

function run({ sample, indexes, progress }: WorkerTask): WorkerReport {
  const directory = mkdtempSync(join(scratch(), 'fleetq-corruption-'));
  const counts: Record<string, number> = {};
  const silent: string[] = [];
  try {
    indexes.forEach((index, done) => {
      Atomics.store(progress, 0, done);
      const image = imageAt(sample.files, index);
      const { verdict, why } = judgeImage(sample, image, directory, index);
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      if (verdict === 'silent') silent.push(`${image.name}: ${why}`);
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return { counts, silent };
}

export function judgeImage(
  sample: Sample,
  image: Image,
  directory: string,
  index: number,
): Judgement {
  const data = join(directory, 'data');
  lay(sample, image, data);
  try {
    const journal = open(data);
    const seen = stateOf(journal, allIds());
    journal.close();
    const isReplaced = seen.alarms.includes('fileDamaged');
    if (isReplaced || index % SECOND_OPEN_EVERY < 2) open(data).close();
    return judge(sample.truth, seen);
  } catch (error) {
    // Whatever is thrown here would be thrown at every start: a crash loop.
    rmSync(data, { recursive: true, force: true });
    return { verdict: 'silent', why: `threw ${(error as Error).stack?.slice(0, 600)}` };
  }
}

function lay({ files }: Sample, image: Image, data: string): void {
  if (!existsSync(data)) mkdirSync(data, { mode: 0o700 });
  for (const name of readdirSync(data)) {
    // The ballast says nothing; writing it anew each time would take most of the time.
    if (name !== 'ballast') rmSync(join(data, name), { recursive: true });
  }
  for (const name of FILES) {
    const bytes = name === image.file ? image.bytes : files[name];
    writeFileSync(join(data, name), bytes, { mode: 0o600 });
  }
}

if (parentPort) {
  const task = workerData as WorkerTask;
  // A Buffer arrives as the plain bytes it is made of.
  const whole = Object.entries(task.sample.files).map(([name, bytes]) => [
    name,
    Buffer.from(bytes),
  ]);
  const sample = { ...task.sample, files: Object.fromEntries(whole) as Sample['files'] };
  parentPort.postMessage(run({ ...task, sample }));
}
