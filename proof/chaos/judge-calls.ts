/**
 * Writes down what a pod asks of the store and what it is told, for the judges: when it asked, and when
 * the answer came.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Store } from '../../src/store/index.ts';
import type { CalledTask, StoreCall } from '../history/evidence.ts';

const CHUNK_BYTES = 1 << 20;

/** The classes of a built package that speak to the store. */
interface StoreClasses {
  readonly claims: Pick<Store, 'claim'>;
  readonly settler: Pick<Store, 'settle'>;
  readonly recovery: Pick<Store, 'take'>;
}

export async function storeClasses(dist: string): Promise<StoreClasses> {
  const load = (file: string) => import(pathToFileURL(join(dist, 'store/postgres', file)).href);
  return {
    claims: (await load('claims.js')).PostgresClaims.prototype,
    settler: (await load('settler.js')).PostgresSettler.prototype,
    recovery: (await load('recovery.js')).PostgresRecovery.prototype,
  };
}

/**
 * Puts itself before three methods, and leaves everything else as it is. A settlement is noted before
 * it is sent too, for its answer may never come. `nowMs` is the true time, whatever this process takes
 * it for.
 */
export function noteCalls(
  { claims, settler, recovery }: StoreClasses,
  file: string,
  nowMs: () => number,
): void {
  const { claim } = claims;
  const { settle } = settler;
  const { take } = recovery;
  const fd = openSync(file, 'a', 0o600);
  const note = (call: StoreCall) => {
    if (call.tasks.length > 0) writeSync(fd, `${JSON.stringify(call)}\n`);
  };
  claims.claim = async function (this: Store, request) {
    const fromMs = nowMs();
    const claimed = await claim.call(this, request);
    const tasks = claimed.map(({ task, epoch }) => ({ task, epoch }));
    note({ call: 'claim', pod: request.pod, fromMs, toMs: nowMs(), tasks });
    return claimed;
  };
  settler.settle = async function (this: Store, pod, settlements) {
    const fromMs = nowMs();
    const asked = settlements.map(({ task, epoch, to }): CalledTask => ({ task, epoch, to }));
    note({ call: 'settle', pod, fromMs, toMs: undefined, tasks: asked });
    const answers = await settle.call(this, pod, settlements);
    const kinds = new Map(answers.map(({ task, kind }) => [task as string, kind]));
    const tasks = asked.map((each) => ({ ...each, answer: kinds.get(each.task) }));
    note({ call: 'settle', pod, fromMs, toMs: nowMs(), tasks });
    return answers;
  };
  recovery.take = async function (this: Store, taking) {
    const fromMs = nowMs();
    const taken = await take.call(this, taking);
    const tasks = taken.map(({ task, epoch, status, previousEpoch }) => {
      return { task, epoch, to: status, wasEpoch: previousEpoch };
    });
    note({ call: 'take', pod: taking.by, fromMs, toMs: nowMs(), tasks });
    return taken;
  };
}

/** The whole lines of these files, one after the other; what is not there, or was cut short, is not. */
export function* linesOf<T>(files: readonly string[]): Iterable<T> {
  for (const file of files) {
    let rest = '';
    for (const chunk of chunksOf(file)) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.endsWith('}')) yield JSON.parse(line) as T;
    }
  }
}

function* chunksOf(file: string): Iterable<string> {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  const decoder = new TextDecoder();
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    for (;;) {
      const count = readSync(fd, buffer, 0, CHUNK_BYTES, null);
      if (count === 0) return;
      yield decoder.decode(buffer.subarray(0, count), { stream: true });
    }
  } finally {
    closeSync(fd);
  }
}
