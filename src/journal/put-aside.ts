/** How a damaged file goes to quarantine, and a complete new one takes its place. */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bytesOf } from './file-header.ts';
import type { Alarm } from './journal.ts';
import { type Place, syncDirectory } from './place.ts';

const NAME_COUNT_MAX = 10_000;

/** A name in quarantine that nothing has yet. */
export function freeName(place: Place, time: string): string {
  mkdirSync(place.quarantine, { recursive: true, mode: 0o700 });
  const stamp = time.replaceAll(/[:.]/g, '-');
  let free = '';
  for (let count = 1; count <= NAME_COUNT_MAX; count++) {
    const name = `${stamp}${count > 1 ? `-${count}` : ''}-${basename(place.journal)}`;
    free = join(place.quarantine, name);
    if (!['', '-wal.found'].some((suffix) => existsSync(free + suffix))) break;
  }
  return free;
}

export function quarantine(place: Place, time: string): string {
  const movedTo = freeName(place, time);
  if (existsSync(place.mark)) copyFileSync(place.mark, `${movedTo}.mark`);
  // The file first: once it is gone, the new one takes its place whatever happens.
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(place.journal + suffix)) renameSync(place.journal + suffix, movedTo + suffix);
  }
  return movedTo;
}

/** Puts a complete new file where the old one is gone; where it is not, all is begun again. */
export function finishReplacing(place: Place): Alarm[] {
  const fresh = `${place.journal}.new`;
  if (!existsSync(fresh)) return [];
  if (bytesOf(place.journal) > 0) {
    removeDatabase(fresh);
    return [];
  }
  // A WAL that stayed behind belongs to the old file; SQLite would apply it to the new one.
  const wal = `${place.journal}-wal`;
  if (existsSync(wal)) {
    renameSync(wal, join(place.quarantine, `left-${statSync(wal).ino}-${basename(wal)}`));
  }
  // What it says is about the old file.
  rmSync(place.mark, { force: true });
  renameSync(fresh, place.journal);
  rmSync(place.damaged, { force: true });
  syncDirectory(place.directory);
  const where = place.quarantine;
  const message = `the journal was damaged and is in ${where}; what could be proved was carried over`;
  return [{ kind: 'fileDamaged', message }];
}

export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}
