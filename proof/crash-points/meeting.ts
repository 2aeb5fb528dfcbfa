/** Processes that wait for each other at a place on the disk, and then go on together. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Meeting {
  readonly place: string;
  readonly count: number;
}

const LOOK_MS = 2;
const WAIT_MS_MAX = 180_000;

/** Resolves when as many processes have come as are to meet. */
export async function meet({ place, count }: Meeting): Promise<void> {
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, String(process.pid)), '');
  const giveUpAt = performance.now() + WAIT_MS_MAX;
  while (readdirSync(place).length < count) {
    if (performance.now() > giveUpAt) {
      throw new Error(`only ${readdirSync(place).length} of ${count} have come to ${place}`);
    }
    await sleep(LOOK_MS);
  }
}
