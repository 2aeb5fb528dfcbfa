/** A program of one's own that holds a fleet: the command line reaches it like any other process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { createFleet, defineMachine, listen } from '../../src/index.ts';
import { begin, fileAppears, fleetq, makeDirectory } from './support.ts';

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

  const follow = begin(['events', one, '--follow', '--json'], { cwd });
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

test('a run that ends with its process before it could be followed is shown to its end', async () => {
  const cwd = makeDirectory();
  const dataDir = join(cwd, '.fleetq');
  const machine = defineMachine({
    name: 'one',
    version: 1,
    input: z.object({}),
    check: 'none',
    work: () => 'done',
  });
  const fleet = await createFleet({ machines: [machine], dataDir, socket: false });
  const run = await fleet.startLocal(machine, {});
  await run.result();
  await fleet.drain();
  // What the process had said while the run was at its first record; then it is gone.
  const first = { seq: 0, at: 0, epoch: 1, state: 'main.work', event: { type: 'STARTED' } };
  const socket = createServer((request, response) => {
    if (request.headers.accept !== 'text/event-stream') {
      return void response.end(JSON.stringify({ events: [first], hasMore: false }));
    }
    socket.close();
    socket.closeAllConnections();
  });
  await new Promise<void>((resolve) => socket.listen(join(dataDir, 'fleetq.sock'), resolve));
  const followed = await fleetq(cwd, ['events', run.id, '--follow', '--json']);
  expect(followed.code, followed.stderr).toBe(0);
  const states = followed.stdout.trim().split('\n');
  expect(states.map((line) => JSON.parse(line).seq)).toEqual([0, 1]);
  expect(states.at(-1)).toContain('"completed"');
});

test('a path too long for a socket is told, and the fleet works without', async () => {
  const dataDir = join(makeDirectory(), 'x'.repeat(120));
  const failures: string[] = [];
  const stop = listen('socket.failed', ({ path, error }) =>
    failures.push(`${path} ${error.message}`),
  );
  const fleet = await createFleet({ machines: [], dataDir });
  stop();
  expect(fleet.runs({ countMax: 1 })).toEqual([]);
  await fleet.drain();
  expect(failures).toEqual([expect.stringMatching(/fleetq\.sock .*the system allows/)]);
  await expect(createFleet({ machines: [], dataDir, socket: true })).rejects.toThrow(
    /the system allows/,
  );
  // Refused, but not held: whoever asks for less gets it.
  await (await createFleet({ machines: [], dataDir, socket: false })).drain();
});

test.each([
  [{}, true],
  [{ socket: false }, false],
  [{ isIdle: true }, false],
  [{ isIdle: true, socket: true }, true],
])('with %o there is a socket: %s, and none after the drain', async (options, isThere) => {
  const dataDir = join(makeDirectory(), 'data');
  mkdirSync(dataDir);
  const socket = join(dataDir, 'fleetq.sock');
  const fleet = await createFleet({ machines: [], dataDir, ...options });
  expect(existsSync(socket)).toBe(isThere);
  // Gone before the journal is let go: afterwards it may be the socket of the next process.
  const seen: boolean[] = [];
  const stop = listen('engine.drained', () => seen.push(existsSync(socket)));
  await fleet.drain();
  stop();
  expect(seen).toEqual([false]);
});
