/** A command ends when it is done: whatever a module left open, and whatever is still in a phase. */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { begin, fileAppears, fleetq, MACHINES, makeDirectory, startWorker } from './support.ts';

const env = { FLEETQ_MACHINES: fileURLToPath(new URL('open-machines', import.meta.url)) };
const LENGTH = 900_000;
const LONG = ['start', 'test/long', '--input', JSON.stringify({ length: LENGTH })];

describe('a module of machines that leaves a timer running', () => {
  test.each<[string, string[], number]>([
    ['start', LONG, 0],
    ['doctor', ['doctor', '--json'], 0],
    ['a refusal', ['start', 'test/lnog'], 3],
  ])('does not keep %s up', async (_, args, code) => {
    expect(await fleetq(makeDirectory(), args, { env })).toMatchObject({ code, signal: null });
  });

  test('does not keep start --wait up, and no part of the output is lost', async () => {
    const ended = await fleetq(makeDirectory(), [...LONG, '--wait'], { env });
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(JSON.parse(ended.stdout)).toHaveLength(LENGTH);
  });
});

test('a phase that does not end keeps start --wait a moment longer than --timeout says', async () => {
  const cwd = makeDirectory();
  const begun = performance.now();
  const args = ['start', 'test/stuck', '--wait', '--timeout', '500ms', '--json'];
  const ended = await fleetq(cwd, args, { env });
  expect(ended).toMatchObject({ code: 7, signal: null });
  // Four seconds at most, of the 25 that a drain may take.
  expect(performance.now() - begun).toBeLessThan(20_000);
  const shown = await fleetq(cwd, ['run', JSON.parse(ended.stdout).id, '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'active', state: 'main.work' });
});

test('a process that went away is not waited for longer than --timeout says', async () => {
  const cwd = makeDirectory();
  const gate = join(cwd, 'gate');
  const worker = await startWorker(cwd);
  const args = ['start', 'test/gated', '--input', JSON.stringify({ gate }), '--wait'];
  const waiting = begin([...args, '--timeout', '3s'], { cwd, env: { FLEETQ_MACHINES: MACHINES } });
  // The phase may begin before the command was told that the run is started.
  await Promise.all([fileAppears(`${gate}.in`), waiting.said(/run \S+ started/)]);
  worker.signal('SIGKILL');
  const begun = performance.now();
  expect(await waiting.ended).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('went away'),
  });
  expect(performance.now() - begun).toBeLessThan(15_000);
});

test('a process that went away before it answered may have begun the run, and that is said', async () => {
  const cwd = makeDirectory();
  const dataDir = join(cwd, '.fleetq');
  mkdirSync(dataDir, { mode: 0o700 });
  const socket = createServer((request, response) => {
    if (request.method === 'GET') return void response.end('{}');
    socket.close();
    socket.closeAllConnections();
  });
  await new Promise<void>((resolve) => socket.listen(join(dataDir, 'fleetq.sock'), resolve));
  const started = await fleetq(cwd, ['start', 'test/quick', '--input', '{}', '--wait']);
  expect(started).toMatchObject({ code: 5, stderr: expect.stringContaining('may have done') });
  expect(started.stderr).toContain('look before you ask again');
});
