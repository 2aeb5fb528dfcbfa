/** The data directory: private, real, and nobody else's. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  exportRuns,
  inspectJournal,
  JournalFormatError,
  JournalPlaceError,
  openJournalFile,
  verifyJournal,
} from '../../src/journal/index.ts';
import { childProgram } from '../support/children.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, sql } = useJournals();

function modesIn(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true }) as string[];
  return Object.fromEntries(
    names.map((name) => [name, (lstatSync(join(directory, name)).mode & 0o777).toString(8)]),
  );
}

test('the directory is made with those above it, and closed to others like every file in it', async () => {
  const directory = join(newDir(), 'deep', 'down');
  const before = process.umask(0);
  try {
    const journal = open(directory);
    await new RunWriter(journal, runIdOf(1)).start();
    expect((lstatSync(directory).mode & 0o777).toString(8)).toBe('700');
    expect(modesIn(directory)).toEqual({
      ballast: '600',
      'holder.json': '600',
      'journal.db': '600',
      'journal.db-wal': '600',
      'journal.lock': '600',
      'journal.mark': '600',
    });
    journal.close();
    writeFileSync(join(directory, 'journal.db'), 'broken', { flag: 'r+' });
    open(directory);
    const quarantined = Object.entries(modesIn(directory)).filter(([name]) =>
      name.startsWith('quarantine'),
    );
    expect(quarantined.length).toBeGreaterThan(1);
    for (const [name, mode] of quarantined) {
      expect(mode, name).toBe(name === 'quarantine' ? '700' : '600');
    }
  } finally {
    process.umask(before);
  }
});

test('files that somebody has opened to others are closed again', () => {
  const directory = newDir();
  open(directory).close();
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o644);
  chmodSync(directory, 0o755);
  open(directory);
  expect((lstatSync(directory).mode & 0o777).toString(8)).toBe('700');
  expect(new Set(Object.values(modesIn(directory)))).toEqual(new Set(['600']));
});

test.each([
  ...['journal.db', 'journal.db-wal', 'journal.mark', 'journal.lock'],
  ...['holder.json', 'ballast', 'quarantine'],
])('a symbolic link in the place of %s is refused, and what it leads to is not touched', (name) => {
  const directory = newDir();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const elsewhere = join(dirname(directory), 'elsewhere');
  writeFileSync(elsewhere, 'untouched');
  symlinkSync(elsewhere, join(directory, name));
  expect(() => open(directory)).toThrow(JournalPlaceError);
  expect(() => open(directory)).toThrow(/is a symbolic link/);
  expect(readFileSync(elsewhere, 'utf8')).toBe('untouched');
});

test('a data directory that is a symbolic link is refused', () => {
  const directory = newDir();
  const real = join(dirname(directory), 'real');
  mkdirSync(real, { recursive: true, mode: 0o700 });
  symlinkSync(real, directory);
  expect(() => open(directory)).toThrow(/is a symbolic link/);
  expect(readdirSync(real)).toEqual([]);
});

test('something that is not a file in the place of the journal is refused', () => {
  const directory = newDir();
  mkdirSync(join(directory, 'journal.db'), { recursive: true, mode: 0o700 });
  expect(() => open(directory)).toThrow(/is not a file/);
});

test.each([0o755, 0o700])('a directory of mode %o with other files in it is refused', (mode) => {
  const directory = newDir();
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'thesis.txt'), 'mine');
  chmodSync(directory, mode);
  expect(() => open(directory)).toThrow(/holds no journal, but other files, such as thesis.txt/);
  expect(readdirSync(directory)).toEqual(['thesis.txt']);
  expect(lstatSync(directory).mode & 0o777).toBe(mode);
});

test('a fresh volume, which has lost+found in it, is fit to hold a journal', () => {
  const directory = newDir();
  mkdirSync(join(directory, 'lost+found'), { recursive: true });
  expect(open(directory).boot).toBe(1);
});

test('a SQLite file of another program is refused and stays as it is', () => {
  const directory = newDir();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const theirs = sql(directory);
  theirs.exec("create table notes (text); insert into notes values ('mine')");
  theirs.close();
  const bytes = readFileSync(join(directory, 'journal.db'));
  expect(() => open(directory)).toThrow(JournalFormatError);
  expect(() => open(directory)).toThrow(/not a FleetQ journal/);
  expect(readFileSync(join(directory, 'journal.db')).equals(bytes)).toBe(true);
  expect(existsSync(join(directory, 'quarantine'))).toBe(false);
});

test('a file that is no database at all is refused and stays as it is', () => {
  const directory = newDir();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, 'journal.db'), 'dear diary');
  expect(() => open(directory)).toThrow(/not a FleetQ journal/);
  expect(readFileSync(join(directory, 'journal.db'), 'utf8')).toBe('dear diary');
});

test('what a first start leaves that lost power keeps nobody from starting', () => {
  const whole = newDir();
  open(whole).close();
  const page = readFileSync(join(whole, 'journal.db')).subarray(0, 4096);
  const header = Buffer.alloc(3_584);
  page.copy(header, 0, 0, 24);
  for (const bytes of [Buffer.alloc(4_096), header]) {
    const directory = newDir();
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, 'journal.db'), bytes);
    const journal = open(directory);
    expect(journal.alarms.map(({ kind }) => kind)).toEqual(['fileDamaged']);
    journal.close();
    expect(open(directory).alarms).toEqual([]);
  }
  // Where there is anything in it, it may be somebody's.
  const directory = newDir();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const theirs = Buffer.alloc(4_096);
  theirs[4_000] = 1;
  writeFileSync(join(directory, 'journal.db'), theirs);
  expect(() => open(directory)).toThrow(/not a FleetQ journal/);
});

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

test.each([0o1777, 0o777, 0o757])(
  'a directory of mode %o belongs to others too, and is left as it is',
  (mode) => {
    const directory = newDir();
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, mode);
    expect(() => open(directory)).toThrow(
      /is open to others \(mode \d+\) and can be written by every/,
    );
    expect(readdirSync(directory)).toEqual([]);
    expect(lstatSync(directory).mode & 0o7777).toBe(mode);
  },
);

test.runIf(isRoot)('a directory of another user is closed to nobody, and taken if it is', () => {
  const directory = newDir();
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o755);
  chownSync(directory, NOBODY, NOBODY);
  expect(() => open(directory)).toThrow(/belongs to another user/);
  expect(lstatSync(directory).mode & 0o777).toBe(0o755);
  chmodSync(directory, 0o700);
  expect(open(directory).boot).toBe(1);
});

describe('whoever only looks', () => {
  test('is refused the same links', () => {
    const directory = newDir();
    open(directory).close();
    const link = join(dirname(directory), 'link');
    symlinkSync(directory, link);
    for (const look of [openJournalFile, inspectJournal, verifyJournal]) {
      expect(() => look(link)).toThrow(/is a symbolic link/);
    }
    expect(() => [...exportRuns(link)]).toThrow(/is a symbolic link/);
    const journal = join(directory, 'journal.db');
    renameSync(journal, join(dirname(directory), 'moved.db'));
    symlinkSync(join(dirname(directory), 'moved.db'), journal);
    expect(() => openJournalFile(directory)).toThrow(/journal.db is a symbolic link/);
  });

  test('does not wait for ever at a pipe in the place of the mark', () => {
    const directory = newDir();
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const pipe = join(directory, 'journal.mark');
    spawnSync('mkfifo', [pipe]);
    const reader = childProgram('src/journal/read-mark.ts');
    const code = `import { readMark } from '${reader}'; console.log(readMark('${pipe}'))`;
    const options = { timeout: 20_000, encoding: 'utf8' } as const;
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', code], options);
    expect(ended).toMatchObject({ status: 0, stdout: 'damaged\n' });
  });
});
