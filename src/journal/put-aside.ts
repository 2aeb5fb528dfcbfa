/**
 * Puts a damaged file aside: a new one takes its place, under the journal's name, with every run that still
 * proves itself.
 *
 *   a copy is read ──▶ .building ──complete──▶ .new ──▶ old file to quarantine/ ──▶ .new takes its place
 *
 * A death at any arrow leaves either the old file or a complete new one.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { isoTime, type RunId } from '../ground/index.ts';
import { openConnection } from './connection.ts';
import { noteSuccessor } from './copy.ts';
import { JournalHeldError } from './errors.ts';
import { evidenceOf, inheritedOf, type LastSeqs } from './evidence.ts';
import { bytesOf } from './file-header.ts';
import { writeHead } from './head.ts';
import type { Alarm } from './journal.ts';
import { MarkFile } from './mark-file.ts';
import { migrate } from './migrate.ts';
import type { OpenPorts } from './open-journal.ts';
import { describeHolder, type Place, syncDirectory } from './place.ts';
import { readMark } from './read-mark.ts';
import { describeSalvage, restore, type Salvage, salvage } from './salvage.ts';

export function replaceBroken(place: Place, ports: OpenPorts, cause: Error): Alarm {
  const { clock, random, codec } = ports;
  const { ino } = statSync(place.journal);
  const found = salvage(place, codec);
  const mark = readMark(place.mark);
  // The fleet knows local runs by the name of their journal: under another, nobody would end their rows.
  const id = found.id ?? (typeof mark === 'object' ? mark.journalId : random.hex(16));
  const building = `${place.journal}.building`;
  removeDatabase(building);
  const connection = openConnection(building);
  try {
    const format = migrate(connection);
    connection.transaction(() => {
      restore(connection, found);
      const { lsn, boot } = found;
      writeHead(connection, { id, boot, lsn, createdAt: clock.now(), format });
    })();
  } finally {
    connection.close();
  }
  chmodSync(building, 0o600);
  if (bytesOf(`${building}-wal`) > 0) throw new Error(`${building} could not be completed`);
  // Another process may have come to the same conclusion and been faster.
  if (statSync(place.journal).ino !== ino) {
    throw new JournalHeldError(place.directory, describeHolder(place));
  }
  const movedTo = freeName(place, isoTime(clock.now()));
  if (existsSync(place.mark)) copyFileSync(place.mark, `${movedTo}.mark`);
  markReplaced(place, id, found, mark);
  noteSuccessor(place, building);
  renameSync(building, `${place.journal}.new`);
  // The file first: once it is gone, the new one takes its place whatever happens.
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(place.journal + suffix)) renameSync(place.journal + suffix, movedTo + suffix);
  }
  finishReplacing(place);
  return {
    kind: 'fileDamaged',
    message:
      `the journal was damaged (${cause.message.slice(0, 200)}) and was moved to ${movedTo}; ` +
      describeSalvage(found),
  };
}

/**
 * Whom the mark names was inside a phase, whatever the file has lost. Of all others nothing is known: they
 * may have been further than their records here say.
 */
function markReplaced(
  place: Place,
  id: string,
  found: Salvage,
  mark: ReturnType<typeof readMark>,
): void {
  const seqs = new Map(found.events.map(({ run, seq }) => [run as RunId, seq]));
  const lastSeqs: LastSeqs = (runs) =>
    new Map([...runs].flatMap((run) => (seqs.has(run) ? [[run, seqs.get(run)!]] : [])));
  const { lsn } = found;
  const ours = typeof mark === 'object' && mark.journalId === id ? mark : undefined;
  const inherited = ours ? inheritedOf(evidenceOf(ours, lsn, lastSeqs), lastSeqs) : [];
  new MarkFile(place.mark, { journalId: id, lsn, unknownUntil: lsn, inherited }).close();
}

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
  renameSync(fresh, place.journal);
  rmSync(place.damaged, { force: true });
  syncDirectory(place.directory);
  const where = place.quarantine;
  const message = `the journal was damaged and is in ${where}; what could be proved was carried over`;
  return [{ kind: 'fileDamaged', message }];
}

function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}
