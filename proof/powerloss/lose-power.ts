/** Plays a recording up to every point, loses power there in every way, and judges what is left. */
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../test/support/remove-tree.ts';
import { scratch } from '../corruption/sample.ts';
import { Disk, type Files } from './disk.ts';
import { type Facts, factsOf } from './facts.ts';
import { fatesAt } from './fates.ts';
import { Truth, type Verdict } from './judge.ts';
import type { Op } from './recording.ts';

export interface PowerLossReport extends Record<Verdict, number> {
  readonly points: number;
  readonly images: number;
  /** Of these, the ones that must not be: lost, wrong or not to be opened. */
  readonly violations: number;
  /** Of these, the ones that differ from each other, each of which was opened. */
  readonly opened: number;
  readonly acknowledged: number;
  readonly seconds: number;
}
export interface Plan {
  /** Every how many points one is taken. */
  readonly stride: number;
  /** Told of everything that must not be. */
  readonly onFault?: (line: string) => void;
}

export function losePower(ops: readonly Op[], { stride, onFault }: Plan): PowerLossReport {
  const begunMs = performance.now();
  const directory = mkdtempSync(join(scratch(), 'fleetq-power-loss-'));
  const counts = { whole: 0, begun: 0, alarmed: 0, lost: 0, wrong: 0, crashed: 0 };
  const known = new Map<string, Facts | Error>();
  const [disk, truth] = [new Disk(), new Truth(ops)];
  let [points, images, acknowledged] = [0, 0, 0];
  // A check of a whole journal copies it: into memory too.
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = directory;
  try {
    ops.forEach((op, index) => {
      disk.apply(op);
      if (op.op === 'ack') truth.add(op.ack);
      if (op.op === 'ack' && op.ack.say === 'durable') acknowledged++;
      if (index % stride !== 0) return;
      points++;
      for (const [name, fate] of fatesAt(index)) {
        images++;
        const { verdict, why } = truth.judge(open(disk.image(fate)));
        counts[verdict]++;
        if (verdict === 'whole' || verdict === 'begun' || verdict === 'alarmed') continue;
        onFault?.(`${verdict} after call ${index} (${describe(op)}), ${name}: ${why}`);
      }
    });
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
    removeTree(directory);
  }
  const seconds = Math.round((performance.now() - begunMs) / 100) / 10;
  const violations = counts.lost + counts.wrong + counts.crashed;
  return { points, images, violations, opened: known.size, acknowledged, ...counts, seconds };

  /** What an image answers follows from its bytes. */
  function open(files: Files): Facts | Error {
    const key = keyOf(files);
    const facts = known.get(key) ?? openAnew(files);
    known.set(key, facts);
    return facts;
  }

  function openAnew(files: Files): Facts | Error {
    const data = join(directory, 'data');
    try {
      return factsOf(files, data);
    } catch (error) {
      // Whatever is thrown here would be thrown at every start.
      removeTree(data);
      return error as Error;
    }
  }
}

function keyOf(files: Files): string {
  const hash = createHash('sha1');
  for (const [name, bytes] of [...files].sort())
    hash.update(`${name} ${bytes.length}\n`).update(bytes);
  return hash.digest('hex');
}

function describe(op: Op): string {
  if (op.op === 'ack') return `told: ${op.ack.say}`;
  if (op.op === 'syncNames') return 'sync of the directory';
  return op.op === 'write' ? `write of ${op.file} at ${op.at}` : `${op.op} of ${op.file}`;
}
