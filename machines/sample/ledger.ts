/**
 * Where the samples leave their one lasting effect: a line for each run, synced, in a file outside of
 * everything that FleetQ keeps. `fleetq dev` reads it and counts what was lost or happened twice.
 * Outside of `fleetq dev` there is no such file, and nothing is written.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Set by `fleetq dev`. */
const VARIABLE = 'FLEETQ_DEV_LEDGER';

/**
 * Makes the effect final. A run that was interrupted may have left its line already, so from its
 * second attempt on that is looked up first: without this, a kill between the line and its record
 * would double it.
 */
export function keepOnce(runId: string, attempt: number): void {
  const file = process.env[VARIABLE];
  if (!file || (attempt > 1 && isKept(file, runId))) return;
  const fd = openSync(file, 'a', 0o600);
  try {
    // One write of one line: lines of several processes do not mix.
    writeSync(fd, `${runId}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function isKept(file: string, runId: string): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes(`${runId}\n`);
}
