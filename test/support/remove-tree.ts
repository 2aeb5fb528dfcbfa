/**
 * Away with a directory, however late somebody still writes into it: a pod that was killed leaves its
 * process for suspects, and a starter its pods, which end by themselves a moment later. The retries of
 * `rmSync` are not enough: they do not look again for what has come since.
 */
import { rmSync } from 'node:fs';

const TRIES = 150;
const PAUSE_MS = 200;

export function removeTree(path: string): void {
  for (let left = TRIES; ; left -= 1) {
    try {
      return rmSync(path, { recursive: true, force: true });
    } catch (error) {
      if (left <= 1 || (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
