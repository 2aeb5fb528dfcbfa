/** Archives whose links are cheap to write and dear to follow: unpacked, or given up, in no time. */
import { mkdirSync, mkdtempSync, readlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LinkJudge, linkTarget } from '../../machines/image/link-judge.ts';
import type { TarFile } from '../../machines/image/sample-image.ts';
import { ARCHIVE_LIMITS, unpackArchive } from '../../machines/image/unpack.ts';
import { removeTree } from '../support/remove-tree.ts';
import { archiveOf } from './image-host.ts';

const CHAIN = 38;
const never = new AbortController().signal;
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'fleetq-links-'));
});
afterEach(() => removeTree(directory));

const link = (path: string, linkPath: string): TarFile => ({ path, type: '2', linkPath });

/** Each link names the next, with as many dots behind it as a header has room for. */
function chain(dots: number, end: string): TarFile[] {
  return Array.from({ length: CHAIN }, (_, index) =>
    link(`c${index}`, `${index + 1 < CHAIN ? `c${index + 1}` : end}${'/.'.repeat(dots)}`),
  );
}

function unpack(files: readonly TarFile[]) {
  const archive = join(directory, 'archive.tar');
  writeFileSync(archive, archiveOf(files));
  const version = join(directory, 'version');
  const limits = ARCHIVE_LIMITS;
  return unpackArchive({ archive, sha256: 'x', version, limits, signal: never });
}

/** How many names the judge looked up: the cost, whatever the clock says. */
function judgeOf(links: Readonly<Record<string, string>>, entryCountMax = 200_000) {
  const targets = new Map(Object.entries(links).map(([path, to]) => [path, linkTarget(path, to)]));
  let looks = 0;
  const judge = new LinkJudge((path) => {
    looks++;
    return targets.get(path);
  }, entryCountMax);
  const refuseStray = (signal = never) => judge.refuseStray(targets.keys(), signal);
  return { refuseStray, looks: () => looks };
}

test('a chain of links with hundreds of dots each is unpacked as it is', async () => {
  const manifest = await unpack([...chain(45, 'end'), { path: 'end', body: 'x' }]);
  expect(manifest.entries).toBe(CHAIN + 1);
  expect(readlinkSync(join(directory, 'version/tree/c0'))).toBe(`c1${'/.'.repeat(45)}`);
});

test('dots cost nothing to follow, and each link is followed once however many lead to it', async () => {
  const links = Object.fromEntries([
    ...chain(480, 'end').map(({ path, linkPath }) => [path, linkPath!]),
    ...Array.from({ length: 1_000 }, (_, index) => [`l${index}`, `c0${'/.'.repeat(480)}`]),
  ]);
  const judge = judgeOf(links);
  await judge.refuseStray();
  expect(judge.looks()).toBeLessThan(4 * (CHAIN + 1_000));
});

test('links that are remembered count as followed: forty in one walk and no more', async () => {
  const row = (count: number) =>
    Object.fromEntries(
      // The last first, so that each finds the next one known.
      Array.from({ length: count }, (_, index) => [
        `c${count - 1 - index}`,
        index === 0 ? 'end' : `c${count - index}`,
      ]),
    );
  await judgeOf(row(41)).refuseStray();
  await expect(judgeOf(row(42)).refuseStray()).rejects.toThrow(/'c0' → 'c1' goes round in circles/);
});

test('many links are followed in turns, between which a cancel is heard', async () => {
  const links = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`l${index}`, 'd/'.repeat(100)]),
  );
  const controller = new AbortController();
  const judge = judgeOf(links);
  const judged = judge.refuseStray(controller.signal);
  setImmediate(() => controller.abort(new Error('cancelled')));
  await expect(judged).rejects.toThrow('cancelled');
  expect(judge.looks()).toBeLessThan(50_000);
});

test('a directory that stands before its links is left out of none of this', async () => {
  mkdirSync(join(directory, 'elsewhere'));
  await expect(
    unpack([{ path: 'd/', type: '5' }, link('d/l', `${'./'.repeat(40)}../../elsewhere`)]),
  ).rejects.toThrow(/leads out of the root/);
});
