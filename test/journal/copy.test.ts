/** What tells a journal's file from a copy of it, where systems know more or less of a file. */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { judgeCopy, writeHolder } from '../../src/journal/copy.ts';
import { placeOf } from '../../src/journal/place.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const tempDir = useTempDirs();
const HEAD = { id: 'one', lsn: 7 };

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
  writeHolder(place, 0, {});
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
  writeHolder(place, 0, { copyOf });
  expect(judgeCopy(place, HEAD)).toEqual({ copyOf, isNew: false });
  for (const text of ['', 'null', '[1', '{"file":4}']) {
    writeFileSync(place.holder, text);
    expect(judgeCopy(place, HEAD), text).toEqual({ copyOf: undefined, isNew: false });
  }
});
