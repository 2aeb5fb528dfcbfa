/** A program of one's own that holds a fleet, in a process of its own: reached from a shell like any other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { begin, fleetq } from './in-process.ts';
import { fileAppears, makeDirectory } from './support.ts';

const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;
const ZOD = import.meta.resolve('zod');

/** Two runs that wait for a file each; it never drains, so only its work keeps it up. */
const PROGRAM = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createFleet, defineMachine } from ${JSON.stringify(LIBRARY)};
import * as z from ${JSON.stringify(ZOD)};

const wait = defineMachine({
  name: 'wait',
  version: 1,
  input: z.object({ gate: z.string() }),
  check: 'none',
  work: async ({ input, signal }) => {
    while (!existsSync(input.gate)) await pause(10, undefined, { signal });
    return 'open';
  },
});
const fleet = await createFleet({ machines: [wait] });
const ids = [];
for (const gate of ['one', 'two']) ids.push((await fleet.startLocal(wait, { gate })).id);
writeFileSync('ids', ids.join(' '));
`;

let program: ChildProcess | undefined;
afterEach(() => {
  program?.kill('SIGKILL');
});

test('a program with createFleet is listed, followed and cancelled from a shell, and ends by itself', async () => {
  const cwd = makeDirectory();
  writeFileSync(join(cwd, 'program.mjs'), PROGRAM);
  program = spawn(process.execPath, ['program.mjs'], { cwd, stdio: 'inherit' });
  const ended = once(program, 'close');
  const [one, two] = (await fileAppears(join(cwd, 'ids'))).split(' ') as [string, string];

  const listed = await fleetq(cwd, ['runs', '--json']);
  expect(JSON.parse(listed.stdout).runs).toMatchObject([
    { id: two, status: 'active' },
    { id: one, status: 'active' },
  ]);
  const cancelled = await fleetq(cwd, ['cancel', two, '--json']);
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ isCancelled: true });

  const follow = begin(cwd, ['events', one, '--follow', '--json']);
  await follow.said(/"STARTED"/);
  // A connection that says nothing more must not keep the program up either.
  const idle = connect(join(cwd, '.fleetq', 'fleetq.sock'));
  await once(idle, 'connect');
  // It is closed, or reset where the program was gone before it looked.
  idle.on('error', () => undefined);
  writeFileSync(join(cwd, 'one'), '');
  expect((await follow.ended).stdout).toContain('"completed"');
  expect(await ended).toEqual([0, null]);
  idle.destroy();
});
