/**
 * Damages or cuts off a journal at every byte, and checks that nothing false is read without an alarm.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { SEALED_VARIABLE } from '../../test/support/sealed.ts';
import { legFlag, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { allDamages, type Damage, nameOf } from './images.ts';
import { makeSamples } from './sample.ts';
import type { WorkerReport, WorkerTask } from './worker.ts';

/** Far beyond what any image takes on a machine with much else to do: what hangs does so for ever. */
const HANG_MS = 60_000;
const WORKERS_MAX = 4;
const CHUNK_COUNT = 2_000;
const SHOWN_MAX = 100;

const HELP = `npm run proof -- corruption [options]

Damages small journals at every byte of their files, by a cut there and by flipped bits, and opens each
image. Ends with 1 if one of them was silent: a wrong answer without an alarm, a hang, a crash, or a
file that cannot be opened a second time. All of them take an hour of one processor.

  --stride N   only every N-th byte (1)
  --share I/N  the I-th of N equal legs, each to be run and saved by itself
  --sealed     journals that a codec has sealed, opened with their key
  --json       figures as one JSON object, the last line of stdout
  --save       adds the figures to docs/results/corruption.json
`;

const { values } = readFlags(
  {
    options: {
      json: { type: 'boolean' },
      save: { type: 'boolean' },
      sealed: { type: 'boolean' },
      share: { type: 'string', default: '1/1' },
      stride: { type: 'string', default: '1' },
    },
  },
  HELP,
);
const stride = wholeFlag('stride', values.stride, 1);
const [leg, legs] = legFlag(values.share);

if (values.sealed) process.env[SEALED_VARIABLE] = '1';

const begun = performance.now();
const samples = await makeSamples();
const all = allDamages(samples, stride);
// Dealt out like cards, so that a leg, and what is done so far, is a fair part of the whole.
const damages = all.filter((_damage, index) => Math.floor(index / 2) % legs === leg - 1);
const chunkCount = Math.ceil(damages.length / CHUNK_COUNT);
const chunks: (readonly Damage[])[] = Array.from({ length: chunkCount }, (_, chunk) =>
  damages.filter((_damage, index) => Math.floor(index / 2) % chunkCount === chunk),
);
for (const { name, files } of samples) {
  const sizes = Object.entries(files).map(([file, bytes]) => `${file} ${bytes.length} bytes`);
  say(`${name}: ${sizes.join(', ')}`);
}
say(`${damages.length} images`);

const counts: Record<string, number> = {};
const silent: string[] = [];
let imagesDone = 0;
const lanes = Math.min(WORKERS_MAX, availableParallelism(), chunks.length);
await Promise.all(Array.from({ length: lanes }, drainChunks));

const report = {
  images: imagesDone,
  silent: silent.length,
  identical: counts['identical'] ?? 0,
  prefixWithAlarm: counts['prefixWithAlarm'] ?? 0,
  quarantined: counts['quarantined'] ?? 0,
  putAside: counts['putAside'] ?? 0,
  seconds: Math.round((performance.now() - begun) / 100) / 10,
};
tellFigures('corruption', report, values);
process.exitCode = silent.length > 0 || imagesDone !== damages.length ? 1 : 0;

async function drainChunks(): Promise<void> {
  for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) {
    const rest = await work(chunk);
    if (rest.length > 0) chunks.unshift(rest);
    if (chunks.length % 10 === 0) {
      const seconds = Math.round((performance.now() - begun) / 1_000);
      say(`${imagesDone} of ${damages.length}, ${silent.length} silent, ${seconds} s`);
    }
  }
}

/** Answers what is left to do where an image has hung. */
function work(chunk: readonly Damage[]): Promise<readonly Damage[]> {
  // Below zero until it has begun: a worker that is slow to start does not hang.
  const progress = new Int32Array(new SharedArrayBuffer(4)).fill(-1);
  const task: WorkerTask = { samples, damages: chunk, progress };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: task });
  return new Promise((resolve, reject) => {
    let [last, lastMs] = [-1, performance.now()];
    const watch = setInterval(() => {
      const done = Atomics.load(progress, 0);
      if (done !== last) [last, lastMs] = [done, performance.now()];
      else if (done >= 0 && performance.now() - lastMs > HANG_MS) end(hang(done));
    }, 500);
    const end = (rest: readonly Damage[]) => {
      clearInterval(watch);
      void worker.terminate();
      resolve(rest);
    };
    const hang = (done: number) => {
      sayOnce(`${nameOf(chunk[done]!)}: hung for ${HANG_MS} ms`);
      imagesDone += done + 1;
      return chunk.slice(done + 1);
    };
    worker.once('error', (error) => {
      clearInterval(watch);
      reject(error);
    });
    worker.once('message', (done: WorkerReport) => {
      for (const [name, count] of Object.entries(done.counts)) {
        counts[name] = (counts[name] ?? 0) + count;
      }
      for (const line of done.silent) sayOnce(line);
      imagesDone += chunk.length;
      end([]);
    });
  });
}

function sayOnce(line: string): void {
  silent.push(line);
  if (silent.length <= SHOWN_MAX) say(`silent: ${line}`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
