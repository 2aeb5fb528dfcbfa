/** Archives made by a real tar, in every format it has that we read, come out as they went in. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tarArchive, tarEntry } from '../../machines/image/sample-image.ts';
import { removeTree } from '../support/remove-tree.ts';
import { startHost, textsUnder } from './image-host.ts';

const hasGnuTar = /GNU tar/.test(String(spawnSync('tar', ['--version']).stdout));
const LONG = `${'long-directory-name/'.repeat(8)}${'f'.repeat(120)}.txt`;
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'fleetq-tar-'));
  const source = join(directory, 'source');
  mkdirSync(join(source, LONG, '..'), { recursive: true });
  mkdirSync(join(source, 'empty'));
  writeFileSync(join(source, 'short.txt'), 'short');
  writeFileSync(join(source, 'ünïcödé.txt'), 'names beyond ASCII');
  writeFileSync(join(source, 'nothing'), '');
  writeFileSync(join(source, 'block'), 'b'.repeat(512));
  writeFileSync(join(source, 'large'), Buffer.alloc(300_000, 'large '));
  writeFileSync(join(source, 'run.sh'), '#!/bin/sh\n', { mode: 0o750 });
  symlinkSync('short.txt', join(source, 'link'));
  linkSync(join(source, 'short.txt'), join(source, 'zz-hard'));
});
afterAll(() => removeTree(directory));

/** ustar has room for a path of 256 bytes and a last name of 100: the long one is left out there. */
test.skipIf(!hasGnuTar).each([
  ['gnu', 'cf', true],
  ['pax', 'cf', true],
  ['ustar', 'cf', false],
  ['gnu', 'czf', true],
] as const)(
  'a tar in the format %s (%s) is unpacked as it was packed',
  async (format, flags, hasLong) => {
    const source = join(directory, 'source');
    const file = join(directory, `${format}.${flags}.tar`);
    if (hasLong) {
      writeFileSync(join(source, LONG), 'a long name');
      symlinkSync(LONG, join(source, 'long-link'));
    }
    execFileSync('tar', [flags, file, `--format=${format}`, '-C', source, '.']);
    const host = await startHost({ extra: [{ name: 'real.tar', content: readFileSync(file) }] });
    expect(await host.install('real')).toMatchObject({ outcome: 'completed' });
    const tree = join(host.home('real'), 'current');
    expect(textsUnder(tree)).toEqual(textsUnder(source));
    expect(statSync(join(tree, 'run.sh')).mode & 0o777).toBe(0o750);
    expect(statSync(join(tree, 'zz-hard')).nlink).toBe(2);
    expect(statSync(join(tree, 'empty')).isDirectory()).toBe(true);
    expect(readlinkSync(join(tree, 'link'))).toBe('short.txt');
    if (!hasLong) return;
    expect(readlinkSync(join(tree, 'long-link'))).toBe(LONG);
    rmSync(join(source, LONG));
    rmSync(join(source, 'long-link'));
  },
);

test('a size written as a large number, and one from a pax header, are read', async () => {
  const binary = Buffer.from(tarEntry({ path: 'binary', body: 'twelve bytes' }));
  binary.fill(0, 124, 136);
  binary[124] = 0x80;
  binary[135] = 12;
  binary.fill(' ', 148, 156);
  const sum = binary.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  binary.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  const content = tarArchive([
    tarEntry({ path: 'global', type: 'g', body: '16 comment=made\n' }),
    binary,
    tarEntry({ path: 'header', type: 'x', body: '10 size=3\n' }),
    tarEntry({ path: 'from-pax', body: 'abc' }),
  ]);
  const host = await startHost({ extra: [{ name: 'sizes.tar', content }] });
  expect(await host.install('sizes')).toMatchObject({ outcome: 'completed' });
  expect(textsUnder(join(host.home('sizes'), 'current'))).toEqual({
    binary: 'twelve bytes',
    'from-pax': 'abc',
  });
});

test('set-user-id bits are dropped, and what nobody could read can be read by its owner', async () => {
  const content = tarArchive([
    tarEntry({ path: 'setuid', mode: 0o4755, body: 'x' }),
    tarEntry({ path: 'locked', mode: 0, body: 'x' }),
    tarEntry({ path: 'closed/', type: '5', mode: 0 }),
    tarEntry({ path: 'closed/inside', body: 'x' }),
  ]);
  const host = await startHost({ extra: [{ name: 'modes.tar', content }] });
  expect(await host.install('modes')).toMatchObject({ outcome: 'completed' });
  const modeOf = (path: string) =>
    statSync(join(host.home('modes'), 'current', path)).mode & 0o7777;
  expect([modeOf('setuid'), modeOf('locked'), modeOf('closed')]).toEqual([0o755, 0o400, 0o700]);
});
