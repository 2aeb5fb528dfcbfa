/** What tells a journal's file from a copy of it, where systems know more or less of a file. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { adoptJournal, type CopyOf, judgeCopy, Owners } from '../../src/journal/copy.ts';
import { type Place, placeOf } from '../../src/journal/place.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const tempDir = useTempDirs();
const HEAD = { id: 'one', lsn: 7 };

function ownersOf(place: Place, copyOf?: CopyOf): Owners {
  const hold = { renew: () => true, letGo: () => undefined };
  const head = { ...HEAD, boot: 1, createdAt: 0, format: 1 };
  return new Owners(place, 0, { head, copyOf, hold });
}

function madePlace() {
  const place = placeOf(tempDir());
  mkdirSync(place.directory);
  writeFileSync(place.journal, 'x');
  const { ino, birthtimeNs } = statSync(place.journal, { bigint: true });
  // Changed since it was made, as every journal is: from here on its birth is known where one is.
  writeFileSync(place.journal, 'xy');
  return { place, ino, born: birthtimeNs };
}

test('the file that was held last is no copy, nor is one that nobody has named', () => {
  const { place } = madePlace();
  expect(judgeCopy(place, HEAD)).toEqual({ copyOf: undefined, isNew: false });
  ownersOf(place);
  expect(judgeCopy(place, HEAD)).toEqual({ copyOf: undefined, isNew: false });
});

test('another number, or another birth, is a copy', () => {
  const { place, ino, born } = madePlace();
  for (const file of [`${ino + 1n}:0`, `${ino}:${born + 1n}`]) {
    writeFileSync(place.holder, JSON.stringify({ file }));
    expect(judgeCopy(place, HEAD), file).toEqual({
      copyOf: { journal: 'one', lsn: 7 },
      isNew: true,
    });
  }
});

test('a birth that the system did not know decides nothing', () => {
  const { place, ino } = madePlace();
  writeFileSync(place.holder, JSON.stringify({ file: `${ino}:0` }));
  expect(judgeCopy(place, HEAD).isNew).toBe(false);
});

test('what was found out before stays known, and a holder that makes no sense says nothing', () => {
  const copyOf = { journal: 'other', lsn: 3 };
  const { place } = madePlace();
  ownersOf(place, copyOf);
  expect(judgeCopy(place, HEAD)).toEqual({ copyOf, isNew: false });
  for (const text of ['', 'null', '[1', '{"file":4}']) {
    writeFileSync(place.holder, text);
    expect(judgeCopy(place, HEAD), text).toEqual({ copyOf: undefined, isNew: false });
  }
});

test('a disk proves dead the pods that its processes were, and no other', () => {
  const { place } = madePlace();
  ownersOf(place).add(['alder-1']);
  const next = ownersOf(place);
  next.add(['alder-2']);
  expect(['alder-1', 'alder-2', 'birch'].map((pod) => next.provesDead(pod))).toEqual([
    true,
    true,
    false,
  ]);
});

test('another device proves nothing, nor does another host after another start', () => {
  const { place } = madePlace();
  const moved = (how: object, host?: string) => {
    ownersOf(place).add(['alder']);
    const holder = JSON.parse(readFileSync(place.holder, 'utf8'));
    const disk = { ...holder.disk, ...how };
    writeFileSync(place.holder, JSON.stringify({ ...holder, disk, host: host ?? holder.host }));
    return ownersOf(place).provesDead('alder');
  };
  expect(moved({ device: 'another' })).toBe(false);
  expect(moved({ boot: 'another' }, 'elsewhere')).toBe(false);
  // The host was started again: what ran on it has ended.
  expect(moved({ boot: 'another' })).toBe(true);
});

test('where nothing is known of earlier processes, or a person has said so, all are taken for dead', () => {
  const { place } = madePlace();
  expect(ownersOf(place).provesDead('alder')).toBe(true);
  adoptJournal(place.directory, 0);
  expect(ownersOf(place).provesDead('alder')).toBe(true);
  expect(ownersOf(place).provesDead('alder')).toBe(false);
});
