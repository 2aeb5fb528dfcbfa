/** The CLI with a process running: everything goes through its socket. */
import { existsSync, lstatSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { begin, fileAppears, fleetq, MACHINES, makeDirectory, startWorker } from './support.ts';

test('start, wait, list, show, follow and cancel go through the process that holds the directory', async () => {
  const cwd = makeDirectory();
  const worker = await startWorker(cwd);
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

  const follow = begin(['events', id, '--follow', '--json'], { cwd });
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

  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
  expect(existsSync(join(cwd, '.fleetq', 'fleetq.sock'))).toBe(false);
});

test('events --follow and start --wait go on over the death of the process', async () => {
  const cwd = makeDirectory();
  const gate = join(cwd, 'gate');
  const first = await startWorker(cwd);
  const env = { FLEETQ_MACHINES: MACHINES };
  const waiting = begin(
    ['start', 'test/gated', '--input', JSON.stringify({ gate }), '--wait', '--json'],
    { cwd, env },
  );
  await Promise.all([fileAppears(`${gate}.in`), waiting.said(/run \S+ started/)]);
  const { stdout } = await fleetq(cwd, ['runs', '--json']);
  const follow = begin(['events', JSON.parse(stdout).runs[0].id, '--follow'], { cwd });
  await follow.said(/STARTED/);
  first.signal('SIGKILL');
  expect((await first.ended).signal).toBe('SIGKILL');
  writeFileSync(gate, '');
  const second = await startWorker(cwd);

  expect(JSON.parse((await waiting.ended).stdout)).toMatchObject({
    status: 'completed',
    output: { worked: 2 },
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
  await expect(startWorker(cwd)).rejects.toThrow(new RegExp(`held by process ${worker.pid} on`));
  const second = await begin(['worker'], { cwd, env: { FLEETQ_MACHINES: MACHINES } }).ended;
  expect(second.code).toBe(5);
  expect(second.stderr).toContain(`held by process ${worker.pid}`);
  const verify = await fleetq(cwd, ['journal', 'verify']);
  expect(verify.code).toBe(5);
  expect(verify.stderr).toContain(`held by process ${worker.pid}`);
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

test('a process that holds the directory and is stuck is named, with exit 5', async () => {
  const cwd = makeDirectory();
  const input = JSON.stringify({ gate: join(cwd, 'gate') });
  const holder = begin(['start', 'test/gated', '--input', input, '--wait'], {
    cwd,
    env: { FLEETQ_MACHINES: MACHINES },
  });
  await fileAppears(join(cwd, 'gate.in'));
  // The lock without the voice: what a process looks like while it starts, or when it hangs.
  renameSync(join(cwd, '.fleetq', 'fleetq.sock'), join(cwd, '.fleetq', 'elsewhere.sock'));
  const ended = await fleetq(cwd, ['runs']);
  expect(ended.code).toBe(5);
  expect(ended.stderr).toContain(`held by process ${holder.child.pid}`);
  holder.child.kill('SIGINT');
  holder.child.kill('SIGTERM');
  await holder.ended;
});
