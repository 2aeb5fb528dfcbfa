/**
 * Damage that a process meets while it writes, kept for the next start. SQLite may notice it only then, and
 * a start does not read a large file through. The start that finds the note puts the file aside, large or
 * small.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { isCorrupt } from './connection.ts';
import type { Place } from './place.ts';

const HINT = 'restart this process: its start puts the damaged file aside and keeps what is whole';

/** Does nothing for errors of another kind. */
export function noteDamage({ damaged }: Place, error: unknown): void {
  if (!isCorrupt(error)) return;
  const damage = Object.assign(error as Error, { hint: HINT });
  try {
    writeFileSync(damaged, `${damage.message}\n`, { mode: 0o600 });
  } catch {
    // A full disk keeps no note: the next process meets the damage as this one did.
  }
}

export function notedDamage({ damaged }: Place): string | undefined {
  try {
    return readFileSync(damaged, 'utf8').trim();
  } catch {
    return undefined;
  }
}
