/** What a process did to its files, call by call, with the bytes, and what it was told in between. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '../../src/ground/index.ts';
import type { Ending } from '../../src/machine/index.ts';
import { childProgram } from '../../test/support/children.ts';
import { readShimLog, type ShimLine, shimEnv } from '../../test/support/disk-shim.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import type { RecordTask } from './record-child.ts';

export type Ack =
  | { readonly say: 'opened'; readonly id: string; readonly boot: number }
  | {
      readonly say: 'durable';
      readonly run: RunId;
      readonly seq: number;
      readonly hash: string;
      readonly wakeAt?: number | null | undefined;
      readonly ending?: Ending | undefined;
    }
  /** From here on their events may be gone. */
  | { readonly say: 'pruning'; readonly runs: readonly RunId[] }
  /** From here on timers may be gone. */
  | { readonly say: 'taking' };

/** Files are called by their names in the data directory. */
export type Op =
  | { readonly op: 'write'; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly op: 'truncate'; readonly file: string; readonly bytes: number }
  | { readonly op: 'sync' | 'create' | 'unlink'; readonly file: string }
  | { readonly op: 'rename'; readonly file: string; readonly to: string }
  | { readonly op: 'syncNames' }
  | { readonly op: 'ack'; readonly ack: Ack };

const WATCHED = /^journal\.(db|mark)/;

export function record(synchronous: RecordTask['synchronous']): Op[] {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-power-loss-'));
  try {
    const dataDir = join(directory, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const [log, data] = [join(directory, 'log'), join(directory, 'bytes')];
    const task: RecordTask = { dataDir, acks: join(directory, 'acks'), synchronous };
    const child = spawnSync(
      process.execPath,
      [childProgram('proof/powerloss/record-child.ts'), JSON.stringify(task)],
      {
        env: { ...process.env, ...shimEnv({ log: { file: log, path: directory }, data }) },
        encoding: 'utf8',
        timeout: 180_000,
      },
    );
    if (child.status !== 0) throw new Error(`the recording failed: ${child.stderr}`);
    return opsOf(readShimLog(log), readFileSync(data), task);
  } finally {
    removeTree(directory);
  }
}

function opsOf(lines: readonly ShimLine[], data: Buffer, { dataDir, acks }: RecordTask): Op[] {
  const ops: Op[] = [];
  let taken = 0;
  const nameOf = (path: string) => path.slice(dataDir.length + 1);
  for (const { op, path, result, offset, bytes: size } of lines) {
    if (result < 0 && op !== 'unlink') throw new Error(`${op} of ${path} failed`);
    const bytes = data.subarray(taken, taken + (op === 'write' ? result : 0));
    taken += bytes.length;
    if (path === acks && op === 'write') ops.push({ op: 'ack', ack: JSON.parse(String(bytes)) });
    if (path === dataDir && op === 'sync') ops.push({ op: 'syncNames' });
    const file = nameOf(path.split('|')[0]!);
    if (!path.startsWith(`${dataDir}/`) || !WATCHED.test(file) || result < 0) continue;
    switch (op) {
      case 'write':
        if (offset < 0) throw new Error(`a write to ${file} without a place`);
        ops.push({ op, file, at: offset, bytes });
        break;
      case 'truncate':
        ops.push({ op, file, bytes: size });
        break;
      case 'rename':
        ops.push({ op, file, to: nameOf(path.split('|')[1]!) });
        break;
      default:
        ops.push({ op, file });
    }
  }
  if (taken !== data.length) throw new Error('the log and the bytes do not fit each other');
  return ops;
}
