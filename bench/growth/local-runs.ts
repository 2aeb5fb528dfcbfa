/**
 * How long a process that was killed with local runs asleep is not ready when it comes back with its disk, and how
 * long until the fleet knows all of them for its own again. Their records stay where they are meanwhile.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeTree } from '../../test/support/remove-tree.ts';
import { say } from '../child.ts';
import { BenchDatabase, wallMs } from '../fleet-pods.ts';

const isFull = process.argv.includes('--full');
const COUNTS = isFull ? [1_000, 10_000, 100_000] : [1_000, 10_000];
const MS_MAX = 300_000;
const MIB = 1024 * 1024;

interface Told {
  readonly kind: 'ready' | 'status';
  readonly at: number;
  /** Runs that the fleet knows as this pod's, and records of them that it does not know. */
  readonly known: number;
  readonly unflushed: number;
  readonly rss: number;
}

export async function growthOfLocalRuns(): Promise<object> {
  const rows: object[] = [];
  for (const count of COUNTS) rows.push(await measured(count));
  return { rows };
}

async function measured(count: number): Promise<object> {
  const database = await BenchDatabase.start();
  const dataDir = mkdtempSync(join(tmpdir(), 'fleetq-bench-'));
  const options = { store: database.url, dataDir, activeRunsMax: 2 * count };
  const areKnown = ({ kind, known, unflushed }: Told) =>
    kind === 'status' && known >= count && unflushed === 0;
  try {
    const first = startChild({ ...options, count });
    await heard(first, areKnown);
    await kill(first);
    await database.statements();
    const killedAt = wallMs();
    const next = startChild(options);
    const ready = await heard(next, ({ kind }) => kind === 'ready');
    const known = await heard(next, areKnown);
    await kill(next);
    const row = {
      runs: count,
      readyMs: Math.round(ready.at - killedAt),
      knownMs: Math.round(known.at - killedAt),
      readyMiB: Math.round(ready.rss / MIB),
      knownMiB: Math.round(known.rss / MIB),
      takeTasks: await database.costOf('left_behind'),
    };
    say(JSON.stringify(row));
    return row;
  } finally {
    await database.stop();
    removeTree(dataDir);
  }
}

function startChild(options: object): ChildProcess {
  const program = fileURLToPath(new URL('local-child.mjs', import.meta.url));
  return fork(program, [JSON.stringify(options)], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** What it says first of which this holds. */
function heard(child: ChildProcess, is: (told: Told) => boolean): Promise<Told> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`nothing came of it in ${MS_MAX} ms`)), MS_MAX);
    child.once('exit', () => reject(new Error('the process ended before it was measured')));
    child.on('message', (told: Told) => {
      if (!is(told)) return;
      clearTimeout(timer);
      resolve(told);
    });
  });
}
