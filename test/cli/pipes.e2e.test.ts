/** Pipes with a name, which mkfifo makes: as an input, and where a file of FleetQ belongs. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readInput } from '../../src/cli/input.ts';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory } = usePlaces();
const read = (text: string) => readInput(text, { stdin: Readable.from([]), cwd: '/' });

function pipe(path = join(makeDirectory(), 'pipe')): string {
  spawnSync('mkfifo', [path]);
  return path;
}

describe('as an input, as a shell makes it for <(…)', () => {
  test('is read to its end', async () => {
    const path = pipe();
    const writer = spawn('sh', ['-c', `echo '{"n":1}' > "$0"`, path]);
    const gone = once(writer, 'close');
    expect(await read(`@${path}`)).toEqual({ n: 1 });
    await gone;
  });

  test('that has no end is given up at the bound', async () => {
    const path = pipe();
    const writer = spawn('sh', ['-c', 'exec cat /dev/zero > "$0"', path]);
    const gone = once(writer, 'close');
    await expect(read(`@${path}`)).rejects.toThrow('is larger than');
    await gone;
  });
});

test('in the place of the mark, no command waits at it', async () => {
  const cwd = makeDirectory();
  await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":1}']);
  const mark = join(cwd, '.fleetq', 'journal.mark');
  renameSync(mark, join(cwd, 'mark'));
  pipe(mark);
  const ended = await fleetq(cwd, ['runs']);
  expect(ended.stderr).toMatch(/journal\.mark is not a file/);
  expect(ended.code).toBe(1);
});
