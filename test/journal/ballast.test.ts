/** The ballast: space that is kept for the end of runs in hand. */
import { existsSync, lstatSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { BALLAST_BYTES, Ballast } from '../../src/journal/ballast.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open } = useJournals();

function ballastFile(): string {
  const file = join(newDir(), 'ballast');
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

test('the ballast takes real space and gives it back once', () => {
  const file = ballastFile();
  const ballast = new Ballast(file);
  expect(ballast.release()).toBe(false);
  expect(ballast.hold()).toBe(true);
  expect(lstatSync(file).blocks * 512).toBeGreaterThanOrEqual(BALLAST_BYTES);
  expect(ballast.release()).toBe(true);
  expect(existsSync(file)).toBe(false);
  expect(ballast.release()).toBe(false);
});

test('a hole of the right size is not taken for ballast', () => {
  const file = ballastFile();
  writeFileSync(file, '');
  truncateSync(file, BALLAST_BYTES);
  expect(lstatSync(file).blocks * 512).toBeLessThan(BALLAST_BYTES);
  expect(new Ballast(file).hold()).toBe(true);
  expect(lstatSync(file).blocks * 512).toBeGreaterThanOrEqual(BALLAST_BYTES);
});

test('a journal without room for its ballast says so, writes what is in hand, and starts nothing', async () => {
  const directory = newDir();
  open(directory).close();
  const told: string[] = [];
  // As on a disk that has just enough left for the journal itself.
  const original = Ballast.prototype.hold;
  Ballast.prototype.hold = () => false;
  try {
    const journal = open(directory, { onStall: (error) => told.push(error.message) });
    expect(told).toEqual(['there is no room for the ballast']);
    expect(journal.stalledBy?.message).toBe('there is no room for the ballast');
    await new RunWriter(journal, runIdOf(1)).start();
    expect(journal.find(runIdOf(1))).toBeDefined();
  } finally {
    Ballast.prototype.hold = original;
  }
});
