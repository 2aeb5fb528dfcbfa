/** The CLI with a process running: everything goes through its socket. With kills: process.e2e.test.ts. */
import { existsSync, lstatSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { OfflineReader } from '../../src/cli/offline-reader.ts';
import { reachEither } from '../../src/cli/reach.ts';
import { readConfig } from '../../src/config/index.ts';
import { identityCodec, systemClock, turn } from '../../src/ground/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { fileAppears } from './file-appears.ts';
import { begin, fleetq, usePlaces } from './in-process.ts';

const { makeDirectory, pod } = usePlaces();

test('start, wait, list, show, follow and cancel go through the process that holds the directory', async () => {
  const cwd = makeDirectory();
  const holder = await pod(cwd);
  const socket = lstatSync(join(cwd, '.fleetq', 'fleetq.sock'));
  expect(socket.isSocket() && (socket.mode & 0o777) === 0o600).toBe(true);

  const done = await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":4}', '--wait']);
  expect(JSON.parse(done.stdout)).toEqual({ doubled: 8 });
  expect(done.code).toBe(0);

  const failed = await fleetq(cwd, [
    ...['start', 'test/failing', '--input', '{"secret":"s"}', '--wait', '--json'],
  ]);
  expect(failed.code).toBe(4);
  expect(JSON.parse(failed.stdout)).toMatchObject({
    status: 'failed',
    executedBy: 'running-process',
  });

  const gate = join(cwd, 'gate');
  const late = await fleetq(cwd, [
    ...['start', 'test/gated', '--input', JSON.stringify({ gate }), '--wait', '--timeout', '100ms'],
  ]);
  expect(late.code).toBe(7);
  const id = /run (\w{26}) started/.exec(late.stderr)![1]!;

  const follow = begin(cwd, ['events', id, '--follow', '--json']);
  await follow.said(/"STARTED"/);
  writeFileSync(gate, '');
  const followed = await follow.ended;
  expect(followed.code).toBe(0);
  expect(
    followed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).state),
  ).toEqual(['main.work', 'main.persist', 'completed']);

  const sleeping = await fleetq(cwd, ['start', 'test/sleeping', '--input', '{}', '--json']);
  expect(JSON.parse(sleeping.stdout)).toMatchObject({ executedBy: 'running-process' });
  const cancelled = await fleetq(cwd, ['cancel', JSON.parse(sleeping.stdout).id, '--json']);
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ isCancelled: true });

  const runs = await fleetq(cwd, ['runs', '--json', '--limit', '2', '--status', 'finished']);
  expect(JSON.parse(runs.stdout).runs).toMatchObject([{ status: 'cancelled' }, { id }]);
  expect(runs.stderr).toBe('');

  const unknown = await fleetq(cwd, ['start', 'test/quikc', '--json']);
  expect(unknown.code).toBe(3);
  expect(JSON.parse(unknown.stderr).error.hint).toMatch(/did you mean test\/quick/);

  await holder.drain();
  expect(existsSync(join(cwd, '.fleetq', 'fleetq.sock'))).toBe(false);
});

test('events --follow and start --wait go on with the next process', async () => {
  const cwd = makeDirectory();
  const gate = join(cwd, 'gate');
  const first = await pod(cwd);
  const input = JSON.stringify({ gate });
  const waiting = begin(cwd, ['start', 'test/gated', '--input', input, '--wait', '--json']);
  const [, [, id]] = await Promise.all([
    fileAppears(`${gate}.in`),
    waiting.said(/run (\S+) started/),
  ]);
  const follow = begin(cwd, ['events', id!, '--follow']);
  await follow.said(/STARTED/);
  await first.drain({ budget: 0 });
  writeFileSync(gate, '');
  await pod(cwd);
  expect(JSON.parse((await waiting.ended).stdout)).toMatchObject({ status: 'completed' });
  const types = (await follow.ended).stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[2]);
  expect(types).toEqual(['STARTED', 'INTERRUPTED', 'DONE', 'DONE']);
});

test('a process that holds the directory and says nothing is named, after some patience', async () => {
  const cwd = makeDirectory();
  await pod(cwd);
  // The lock without the voice: what a process looks like while it starts, or when it hangs.
  renameSync(join(cwd, '.fleetq', 'fleetq.sock'), join(cwd, '.fleetq', 'elsewhere.sock'));
  const held = `held by process ${process.pid}`;
  const verify = await fleetq(cwd, ['journal', 'verify']);
  expect([verify.code, verify.stderr]).toEqual([5, expect.stringContaining(held)]);

  const config = await readConfig({ flags: {}, env: {}, cwd });
  const clock = new FakeClock();
  const look = async () => new OfflineReader(config.dataDir, clock, identityCodec);
  let error: unknown;
  reachEither(config, vi.fn(), look, clock).catch((thrown: unknown) => {
    error = thrown;
  });
  while (error === undefined) {
    await turn(systemClock);
    if (clock.timerCount > 0) await clock.advance(100);
  }
  expect(clock.monotonicMs()).toBe(6_100);
  expect(error).toMatchObject({
    code: 'FLEETQ_UNREACHABLE',
    message: expect.stringMatching(
      new RegExp(`${held} on .*, which does not answer on its socket`),
    ),
  });
});
