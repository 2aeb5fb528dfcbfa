/** A program of one's own that holds a fleet: the command line reaches it like any other process. */
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createFleet, defineMachine, listen } from '../../src/index.ts';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory } = usePlaces();

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
