/**
 * How processes end: by a signal, by a second one, by an uncaught error, with a timer that is still open.
 * And what commands report of a process that was killed or is stopped. Commands run in the process of the
 * test where their own process does not matter.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { begin as beginHere, fleetq } from './in-process.ts';
import {
  BIN,
  begin,
  fileAppears,
  MACHINES,
  makeDirectory,
  startAbandoned,
  startWorker,
} from './support.ts';

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

test('Ctrl-C while a run is executed here leaves it durable, and exits 130', async () => {
  const cwd = makeDirectory();
  const gate = join(cwd, 'gate');
  const input = JSON.stringify({ gate });
  const waiting = begin(['start', 'test/gated', '--input', input, '--wait'], {
    cwd,
    env: { FLEETQ_MACHINES: MACHINES },
  });
  await fileAppears(`${gate}.in`);
  waiting.child.kill('SIGINT');
  writeFileSync(gate, '');
  expect((await waiting.ended).code).toBe(130);
  const { runs } = JSON.parse((await fleetq(cwd, ['runs', '--json'])).stdout);
  expect(runs).toMatchObject([{ status: 'active', state: 'main.persist' }]);
});

describe('a command', () => {
  const env = { FLEETQ_MACHINES: fileURLToPath(new URL('open-machines', import.meta.url)) };

  test('ends where a module of machines leaves a timer running, and no part of its output is lost', async () => {
    const length = 900_000;
    const args = ['start', 'test/long', '--input', JSON.stringify({ length }), '--wait'];
    const ended = await begin(args, { cwd: makeDirectory(), env }).ended;
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(JSON.parse(ended.stdout)).toHaveLength(length);
  });

  test('that is refused ends there, too', async () => {
    const ended = await begin(['start', 'test/lnog'], { cwd: makeDirectory(), env }).ended;
    expect(ended).toMatchObject({ code: 3, signal: null });
  });

  test('whose reader has had enough ends well', () => {
    const script = 'set -o pipefail; "$0" "$1" openapi --json | head -c 1 > /dev/null';
    const { status, stderr } = spawnSync('bash', ['-c', script, process.execPath, BIN], {
      cwd: makeDirectory(),
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });
});

test('events --follow and start --wait go on over the death of the process', async () => {
  const cwd = makeDirectory();
  const gate = join(cwd, 'gate');
  const first = await startWorker(cwd);
  const input = JSON.stringify({ gate });
  const waiting = beginHere(cwd, ['start', 'test/gated', '--input', input, '--wait', '--json']);
  const [, [, id]] = await Promise.all([
    fileAppears(`${gate}.in`),
    waiting.said(/run (\S+) started/),
  ]);
  const follow = beginHere(cwd, ['events', id!, '--follow']);
  await follow.said(/STARTED/);
  first.signal('SIGKILL');
  expect((await first.ended).signal).toBe('SIGKILL');
  // Looking at the journal changes nothing for the next process.
  for (const args of [['runs'], ['run', id!], ['events', id!]]) {
    expect((await fleetq(cwd, args)).code).toBe(0);
  }
  expect((await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":1}'])).code).toBe(0);
  writeFileSync(gate, '');
  const second = await startWorker(cwd);

  expect(JSON.parse((await waiting.ended).stdout)).toMatchObject({
    status: 'completed',
    output: { worked: 2, persisted: 2 },
  });
  const types = (await follow.ended).stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[2]);
  expect(types).toEqual(['STARTED', 'INTERRUPTED', 'DONE', 'DONE']);
  second.signal('SIGTERM');
  await second.ended;
});

test('a second process on the directory says who holds it', async () => {
  const cwd = makeDirectory();
  const worker = await startWorker(cwd);
  const held = new RegExp(`held by process ${worker.pid} on`);
  await expect(startWorker(cwd)).rejects.toThrow(held);
  const second = await begin(['worker'], { cwd, env: { FLEETQ_MACHINES: MACHINES } }).ended;
  expect([second.code, second.stderr]).toEqual([5, expect.stringMatching(held)]);
  worker.signal('SIGTERM');
  await worker.ended;
});

test('a process that is stopped is named within seconds, with exit 5', async () => {
  const cwd = makeDirectory();
  const worker = await startWorker(cwd);
  worker.signal('SIGSTOP');
  const ended = await fleetq(cwd, ['runs']);
  expect(ended.code).toBe(5);
  expect(ended.stderr).toMatch(
    new RegExp(`held by process ${worker.pid} on .* does not answer .* no answer within 15 s`),
  );
  worker.signal('SIGCONT');
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

/** Whom modes of files mean something to: for root they do not. */
const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const canRead =
  spawnSync(process.execPath, [BIN, '--version'], { ...other, cwd: '/' }).status === 0;

test.runIf(canRead)('a directory that may not be entered is told as such', () => {
  const cwd = makeDirectory();
  chmodSync(cwd, 0o755);
  const closed = join(cwd, 'closed');
  mkdirSync(closed, { mode: 0o000 });
  for (const [args, reason] of [
    [['runs'], /closed cannot be read: EACCES[\s\S]*hint: ask as its owner/],
    [['journal', 'verify'], /closed cannot be read/],
  ] as const) {
    const options = { ...other, cwd: '/', encoding: 'utf8', timeout: 180_000 } as const;
    const command = [BIN, ...args, '--data-dir', closed];
    const { status, stderr } = spawnSync(process.execPath, command, options);
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain('held by');
    expect(status).toBe(1);
  }
  chmodSync(closed, 0o700);
});
