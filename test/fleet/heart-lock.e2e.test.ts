/** A thread that is stopped inside of SQLite ends its process by an abort; so a heart ends by itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { childProgram } from '../support/children.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const TIMES = 3;

async function endOf(how: 'stop' | 'exit') {
  const directory = newDir();
  mkdirSync(directory, { recursive: true });
  const argv = [childProgram('test/fleet/heart-child.ts'), join(directory, 'fleet.db'), how];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = await once(child, 'exit');
  const [out, errors] = await said;
  return { code, signal, out, errors };
}

test.each([
  ['are stopped', 'stop', 'stopped\n'],
  ['end with their process', 'exit', ''],
] as const)(
  'hearts that %s while the file of their store is locked end nothing but themselves',
  async (_, how, out) => {
    for (let time = 1; time <= TIMES; time++) {
      expect(await endOf(how)).toEqual({ code: 0, signal: null, out, errors: '' });
    }
  },
  120_000,
);
