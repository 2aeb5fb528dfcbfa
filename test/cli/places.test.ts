/** Data directories that are none, or not ours: told as what they are, by every command, at once. */
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory } = usePlaces();

const QUICK = ['start', 'test/quick', '--input', '{"n":1}'];
const LOOKS = [['runs'], ['journal', 'export'], ['journal', 'verify'], ['journal', 'inspect']];

describe('a plain file', () => {
  test.each([['runs'], QUICK, ['journal', 'inspect']])(
    'is not held by anybody: %s',
    async (...args) => {
      const cwd = makeDirectory();
      writeFileSync(join(cwd, '.fleetq'), 'a letter');
      const ended = await fleetq(cwd, args);
      expect(ended.stderr).toMatch(/\.fleetq is not a directory[\s\S]*hint:/);
      expect(ended.stderr).not.toContain('held by');
      expect(ended.code).toBe(1);
    },
  );

  test.each([['runs'], QUICK])('on the way to it is told as such: %s', async (...args) => {
    const cwd = makeDirectory();
    writeFileSync(join(cwd, 'letter'), 'dear reader');
    const ended = await fleetq(cwd, [...args, '--data-dir', join(cwd, 'letter', 'below')]);
    expect(ended.stderr).toMatch(/cannot be read: ENOTDIR[\s\S]*hint: name another/);
    expect(ended.code).toBe(1);
  });
});

describe('what start would refuse is not read either', () => {
  test.each(LOOKS)('a data directory that is a link: %s %s', async (...args) => {
    const cwd = makeDirectory();
    await fleetq(cwd, QUICK);
    symlinkSync('.fleetq', join(cwd, 'link'));
    const ended = await fleetq(cwd, [...args, '--data-dir', join(cwd, 'link')]);
    expect(ended.stderr).toMatch(/link is a symbolic link[\s\S]*hint:/);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
  });

  test('a journal that is a link, even one that leads nowhere', async () => {
    const cwd = makeDirectory();
    mkdirSync(join(cwd, '.fleetq'), { mode: 0o700 });
    symlinkSync('nowhere', join(cwd, '.fleetq', 'journal.db'));
    const ended = await fleetq(cwd, ['runs']);
    expect(ended.stderr).toMatch(/journal\.db is a symbolic link/);
    expect(ended.code).toBe(1);
  });
});

test('a directory that everybody may write is refused, and stays as it is', async () => {
  const cwd = makeDirectory();
  const shared = join(cwd, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  const ended = await fleetq(cwd, [...QUICK, '--data-dir', shared]);
  expect(ended.stderr).toMatch(/is open to others \(mode 1777\)[\s\S]*hint: name one below it/);
  expect(ended.code).toBe(1);
  expect(readdirSync(shared)).toEqual([]);
});
