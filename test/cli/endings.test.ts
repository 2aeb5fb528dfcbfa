/** A command ends when it is done: whatever a module left open, and whatever is still in a phase. */
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
  await fileAppears(`${gate}.in`);
  worker.signal('SIGKILL');
  const begun = performance.now();
  expect(await waiting.ended).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('went away'),
  });
  expect(performance.now() - begun).toBeLessThan(15_000);
});
