/** `fleetq dev --postgres`: a real server of its own, stopped and started with a key. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { BIN, fleetq, makeDirectory } from './support.ts';

/** A terminal for a child, by a tool that hosts with util-linux have. */
const hasScript = spawnSync('script', ['--version']).status === 0;

test.runIf(hasScript)(
  'p stops the Postgres of dev and starts it again; nothing is lost or doubled',
  async () => {
    const cwd = makeDirectory();
    const command = `stty rows 40 cols 160; exec "${process.execPath}" "${BIN}" dev --postgres`;
    const env = { ...process.env, NO_COLOR: '' };
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env, timeout: 150_000 });
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen = (screen + stripVTControlCharacters(text)).slice(-200_000);
    });
    const shows = (pattern: RegExp) =>
      expect.poll(() => screen, { timeout: 60_000 }).toMatch(pattern);
    await shows(/p stop or start Postgres/);
    await shows(/enqueued [5-9]/);
    child.stdin.write('p');
    await shows(/Postgres is stopped: pods are alone/);
    await shows(/the store cannot be read/);
    child.stdin.write('p');
    await shows(/Postgres is back: pods catch up/);
    screen = '';
    await shows(/completed [1-9]/);
    const gone = once(child, 'close');
    child.stdin.write('q');
    await gone;
    expect(screen).toMatch(/lost 0, doubled 0 of \d+ acknowledged/);
  },
  170_000,
);

test('an address that is no Postgres is refused in words', async () => {
  const asked = ['dev', '--postgres', 'mysql://there'];
  const { code, stderr } = await fleetq(makeDirectory(), asked);
  expect(code).toBe(2);
  expect(stderr).toContain('--postgres wants an address like postgres://user@host/database');
});
