/** `fleetq drain`: pods in real processes that are asked to leave, by the store and by their socket. */
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { end, makePlace, type Place } from './fleet-support.ts';
import { begin, fileAppears, fleetq, MACHINES, makeDirectory } from './support.ts';

/** Long enough that a busy host does not look dead. */
const PATIENT = ['--silence', '20s'];

/** Processes are started one after the other, on a host that may be busy. */
vi.setConfig({ testTimeout: 120_000 });

/** No socket is looked at there, so that only the store can tell the pod. */
const ELSEWHERE = ['--data-dir', 'elsewhere'];

async function enqueueGated(place: Place, gate: string): Promise<string> {
  const { task } = await place.json('enqueue', 'test/gated', '--input', JSON.stringify({ gate }));
  await fileAppears(`${gate}.in`);
  return task;
}

test('a pod that is asked through the store finishes its phase and leaves the rest to another', async () => {
  const place = await makePlace();
  const alder = await place.worker(...PATIENT, '--data-dir', 'alder', '--pod-name', 'alder');
  const gate = join(place.cwd, 'gate');
  const task = await enqueueGated(place, gate);
  const birch = await place.worker(...PATIENT, '--data-dir', 'birch', '--pod-name', 'birch');

  const draining = begin(['drain', 'alder', '--wait', '--json', ...ELSEWHERE], {
    ...place,
    timeoutMs: 60_000,
  });
  await draining.said(/alder \(\w{26}\) is asked to drain, with 1 task in hand/);
  await draining.said(/ {2}draining, 1 in hand/);
  // Whatever keeps it up may end it at the same time: the phase in hand has its budget all the same.
  alder.child.kill('SIGTERM');
  const again = await place.run('drain', 'alder', ...ELSEWHERE);
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('is draining already')]);
  expect(await place.json('run', task)).toMatchObject({ status: 'claimed' });

  writeFileSync(gate, '');
  const told = await draining.ended;
  expect(told.code, told.stderr).toBe(0);
  expect(told.stderr).toMatch(/is down after .*: nothing is left with it/);
  const pod = alder.ready['pod'];
  expect(JSON.parse(told.stdout)).toMatchObject({
    pod,
    name: 'alder',
    status: 'down',
    claimCount: 0,
    isAsked: true,
  });
  expect((await alder.ended).code).toBe(0);
  const done = await place.run('wait', task, '--timeout', '20s');
  expect(JSON.parse(done.stdout)).toEqual({ worked: 1, persisted: 1 });
  expect(await place.json('run', task)).toMatchObject({ crashes: 0, claims: 2 });
  await end(birch);
});

test('who cannot drain is named: unknown, gone, or one of several', async () => {
  const place = await makePlace();
  const first = await place.worker(...PATIENT, '--data-dir', 'first', '--pod-name', 'twin');
  const second = await place.worker(...PATIENT, '--data-dir', 'second', '--pod-name', 'twin');
  const unknown = await place.run('drain', 'twig');
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringMatching(/no pod called "twig"[\s\S]*did you mean twin\?/),
  ]);
  const several = await place.run('drain', 'twin');
  expect([several.code, several.stderr]).toEqual([
    2,
    expect.stringMatching(/2 pods are called "twin"[\s\S]*\w{26}, \w{26}/),
  ]);

  const id = String(first.ready['pod']);
  const dry = await place.json('drain', id, '--dry-run');
  expect(dry).toMatchObject({ pod: id, status: 'up', isAsked: false });
  await end(first);
  const gone = await place.run('drain', id);
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringMatching(/is down[\s\S]*nothing/)]);

  // A process that stands still hears nothing: whoever waits is told so, and it drains later.
  // Stopped while this test writes, for a pod that stops in a write of its own locks everybody out.
  const store = new Database(join(place.cwd, 'store', 'fleet.db'), { timeout: 90_000 });
  store.exec('begin immediate');
  second.child.kill('SIGSTOP');
  await sleep(200);
  store.exec('rollback');
  store.close();
  const late = await place.run('drain', 'twin', '--wait', '--timeout', '600ms', ...ELSEWHERE);
  expect([late.code, late.stderr]).toEqual([7, expect.stringMatching(/is up after .* goes on/)]);
  second.child.kill('SIGCONT');
  expect((await second.ended).code).toBe(0);
});

test('a pod below --pods begins anew when it has drained, and no other does', async () => {
  const place = await makePlace();
  const worker = await place.worker(...PATIENT, '--pods', '2', '--pod-name', 'host');
  await worker.said(/"kind":"ready"[\s\S]*"kind":"ready"/);
  const drained = await place.run('drain', 'host-1', '--wait');
  expect(drained.code, drained.stderr).toBe(0);
  await worker.said(/"host-1","kind":"died","pid":\d+,"how":"code 0","againInMs":\d+/);
  await worker.said(/"host-1","kind":"ready","pid":\d+,"boot":2/);
  const { stdout } = await end(worker);
  expect(stdout).not.toMatch(/"host-2","kind":"ready","pid":\d+,"boot":2/);
});

test('the process that holds a directory is asked by its socket, without any store', async () => {
  const cwd = makeDirectory();
  const env = { FLEETQ_MACHINES: MACHINES, FLEETQ_LOG_LEVEL: 'silent' };
  const worker = begin(['worker', '--json'], { cwd, env });
  await worker.said(/"kind":"ready"/);
  const gate = join(cwd, 'gate');
  await fleetq(cwd, ['start', 'test/gated', '--input', JSON.stringify({ gate })]);
  await fileAppears(`${gate}.in`);
  const dry = await fleetq(cwd, ['drain', '--dry-run', '--json']);
  expect(JSON.parse(dry.stdout)).toEqual({ pid: worker.child.pid, isAsked: false, isGone: false });
  const waiting = begin(['drain', '--wait'], { cwd });
  await waiting.said(/is asked to drain/);
  expect(worker.child.exitCode).toBeNull();
  writeFileSync(gate, '');
  expect((await waiting.ended).code).toBe(0);
  expect((await worker.ended).code).toBe(0);
  expect(existsSync(join(cwd, '.fleetq', 'fleetq.sock'))).toBe(false);
  const nobody = await fleetq(cwd, ['drain']);
  expect([nobody.code, nobody.stderr]).toEqual([5, expect.stringContaining('no process answers')]);
});

test('a process that ends while it is asked whether it is there is gone, and that is no error', async () => {
  const cwd = makeDirectory();
  mkdirSync(join(cwd, '.fleetq'), { mode: 0o700 });
  let isAsked = false;
  const server = createServer((request, answer) => {
    if (request.method === 'GET' && isAsked) {
      server.close();
      request.socket.destroy();
      return;
    }
    isAsked ||= request.method === 'POST';
    answer.setHeader('connection', 'close').end('{"pid":4711}');
  });
  await once(server.listen(join(cwd, '.fleetq', 'fleetq.sock')), 'listening');
  const { code, stderr } = await fleetq(cwd, ['drain', '--wait']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('process 4711 is gone')]);
});
