/** How a process that holds a fleet ends: signals, a second signal, what nobody caught. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileAppears, fleetq, makeDirectory, startAbandoned, startWorker } from './support.ts';

async function startGated(cwd: string): Promise<{ id: string; gate: string }> {
  const gate = join(cwd, 'gate');
  const started = await fleetq(cwd, ['start', 'test/gated', '--input', JSON.stringify({ gate })]);
  await fileAppears(`${gate}.in`);
  return { id: started.stdout.trim(), gate };
}

async function endOf(cwd: string, id: string) {
  const worker = await startWorker(cwd);
  const { stdout } = await fleetq(cwd, ['events', id, '--follow', '--json']);
  worker.signal('SIGTERM');
  await worker.ended;
  const run = JSON.parse((await fleetq(cwd, ['run', id, '--json'])).stdout);
  const types: string[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event.type);
  return { run, types, resumed: worker.messages.filter(({ kind }) => kind === 'resumed') };
}

test('SIGTERM lets the phase in hand finish and exits 0; the run goes on at the next one', async () => {
  const cwd = makeDirectory();
  const worker = await startWorker(cwd, { FLEETQ_LOG_LEVEL: 'info' });
  const { id, gate } = await startGated(cwd);
  worker.signal('SIGTERM');
  // Still inside: a drain waits, shows what it has, and takes nothing new.
  const refused = await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":1}']);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('draining') });
  expect((await fleetq(cwd, ['runs', '--status', 'active'])).stdout).toContain(id);
  writeFileSync(gate, '');
  const ended = await worker.ended;
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(ended.stderr).toContain('"event":"engine.drained"');

  const { run, types, resumed } = await endOf(cwd, id);
  expect(resumed).toMatchObject([{ run: id, state: 'main.persist', attempt: 1 }]);
  expect(types).toEqual(['STARTED', 'DONE', 'DONE']);
  expect(run.output).toEqual({ worked: 1, persisted: 1 });
});

test('a second SIGTERM ends the process at once, and the phase counts as interrupted', async () => {
  const cwd = makeDirectory();
  const worker = await startWorker(cwd);
  const { id, gate } = await startGated(cwd);
  worker.signal('SIGTERM');
  worker.signal('SIGINT');
  const { code } = await worker.ended;
  // Whichever the kernel delivers second decides.
  expect([130, 143]).toContain(code);

  writeFileSync(gate, '');
  const { run, types } = await endOf(cwd, id);
  expect(types).toEqual(['STARTED', 'INTERRUPTED', 'DONE', 'DONE']);
  expect(run.output).toEqual({ worked: 2, persisted: 2 });
});

test.each(['exception', 'rejection'])(
  'an uncaught %s ends the process with 70, logged, and the attempt is counted',
  async (how) => {
    const cwd = makeDirectory();
    const worker = await startWorker(cwd, { FLEETQ_TELEMETRY_DETAIL: 'full' });
    const started = await fleetq(cwd, [
      'start',
      'test/crashing',
      '--input',
      JSON.stringify({ how }),
    ]);
    const ended = await worker.ended;
    expect(ended.code).toBe(70);
    const line = ended.stderr.split('\n').find((text) => text.includes('process.crashed'))!;
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      event: 'process.crashed',
      err: { type: 'Error', message: 'nobody caught this' },
    });

    const { run, types } = await endOf(cwd, started.stdout.trim());
    expect(types).toEqual(['STARTED', 'INTERRUPTED', 'DONE']);
    expect(run).toMatchObject({ status: 'completed', output: { attempt: 2 } });
  },
);

test('a pod whose starter is gone before it has begun does not outlive it', async () => {
  expect(await startAbandoned(makeDirectory())).toBe('SIGTERM');
});
