/** How long a command stays that waits: for a phase that does not end, for a process that goes away. */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory } = usePlaces();
const STUCK = { FLEETQ_MACHINES: fileURLToPath(new URL('stuck-machines', import.meta.url)) };

/** What answers on the socket of a directory until it goes away. */
async function makeHeld(answer: (goAway: () => void) => RequestListener): Promise<string> {
  const cwd = makeDirectory();
  mkdirSync(join(cwd, '.fleetq'), { mode: 0o700 });
  const goAway = () => {
    server.close();
    server.closeAllConnections();
  };
  const server = createServer(answer(goAway));
  await once(server.listen(join(cwd, '.fleetq', 'fleetq.sock')), 'listening');
  return cwd;
}

test('a phase that does not end keeps start --wait a moment longer than --timeout says', async () => {
  const cwd = makeDirectory();
  const begun = performance.now();
  const args = ['start', 'test/stuck', '--wait', '--timeout', '100ms', '--json'];
  const ended = await fleetq(cwd, args, { env: STUCK });
  expect(ended).toMatchObject({ code: 7 });
  // Four seconds at most, of the 25 that a drain may take.
  expect(performance.now() - begun).toBeLessThan(20_000);
  const shown = await fleetq(cwd, ['run', JSON.parse(ended.stdout).id, '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'active', state: 'main.work' });
});

test('a process that went away is not waited for longer than --timeout says', async () => {
  const id = '01M7S4ZV233CZ6R1XVKK8PEFTH';
  const cwd = await makeHeld((goAway) => ({ url }, response) => {
    if (url?.includes('/result')) return goAway();
    response.end(JSON.stringify({ id, pid: 4711 }));
  });
  const begun = performance.now();
  const args = ['start', 'test/quick', '--input', '{"n":1}', '--wait', '--timeout', '300ms'];
  expect(await fleetq(cwd, args)).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(new RegExp(`run ${id} started[\\s\\S]*went away`)),
  });
  // A restart is given half a minute.
  expect(performance.now() - begun).toBeLessThan(15_000);
});

test('a process that went away before it answered may have begun the run, and that is said', async () => {
  const cwd = await makeHeld((goAway) => ({ method }, response) => {
    if (method === 'GET') return void response.end('{}');
    goAway();
  });
  const started = await fleetq(cwd, ['start', 'test/quick', '--input', '{}', '--wait']);
  expect(started).toMatchObject({ code: 5, stderr: expect.stringContaining('may have done') });
  expect(started.stderr).toContain('look before you ask again');
});
