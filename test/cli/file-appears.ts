/** Waits for a file that a phase writes when it is inside. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 30_000;

/** Resolves once the file is there, with what it says. */
export async function fileAppears(path: string): Promise<string> {
  const until = Date.now() + TIMEOUT_MS;
  while (!existsSync(path) || readFileSync(path, 'utf8') === '') {
    if (Date.now() > until) throw new Error(`${path} did not appear`);
    await sleep(10);
  }
  return readFileSync(path, 'utf8');
}
