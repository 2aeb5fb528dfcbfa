/** fleetq drain: what it asks, of whom, and what it says meanwhile. With processes: worker.e2e.test.ts. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { podOf } from '../../src/cli/fleet/drain.ts';
import type { PodRow } from '../../src/store/index.ts';
import { birthOf, podOf as podCalled } from '../store/factories.ts';
import { fileAppears } from './file-appears.ts';
import { fleetq, type Place, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace } = usePlaces();

/** No socket is looked at there, so that only the store can tell the pod. */
const ELSEWHERE = ['--data-dir', 'elsewhere'];

async function enqueueGated(place: Place, gate: string): Promise<string> {
  const { task } = await place.json('enqueue', 'test/gated', '--input', JSON.stringify({ gate }));
  await fileAppears(`${gate}.in`);
  return task;
}

test('a pod that is asked through the store finishes its phase and leaves the rest to another', async () => {
  const place = await makePlace();
  const alder = await place.pod({ dataDir: 'alder', podName: 'alder' });
  const gate = join(place.cwd, 'gate');
  const task = await enqueueGated(place, gate);
  await place.pod({ dataDir: 'birch', podName: 'birch' });

  const draining = place.begin('drain', 'alder', '--wait', '--json', ...ELSEWHERE);
  await draining.said(/alder \(\w{26}\) is asked to drain, with 1 task in hand/);
  await draining.said(/ {2}draining, 1 in hand/);
  const again = await place.run('drain', 'alder', ...ELSEWHERE);
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('is draining already')]);
  expect(await place.json('run', task)).toMatchObject({ status: 'claimed' });

  const pod = alder.status.pod?.pod;
  writeFileSync(gate, '');
  const told = await draining.ended;
  expect(told.code, told.stderr).toBe(0);
  expect(told.stderr).toMatch(/is down after .*: nothing is left with it/);
  expect(JSON.parse(told.stdout)).toMatchObject({
    pod,
    name: 'alder',
    status: 'down',
    claimCount: 0,
    isAsked: true,
  });
  const done = await place.run('wait', task, '--timeout', '20s');
  expect(JSON.parse(done.stdout)).toEqual({ worked: 1, persisted: 1 });
  expect(await place.json('run', task)).toMatchObject({ crashes: 0, claims: 2 });
});

test('who cannot drain is named: unknown, gone, or one of several', async () => {
  const place = await makePlace();
  const first = await place.pod({ dataDir: 'first', podName: 'twin' });
  const id = String(first.status.pod?.pod);
  // One that stands still hears nothing.
  const silent = { ...birthOf('silent'), name: 'twin', routes: [], silenceMs: 3_600_000 };
  await place.store((store) => store.register(silent));
  const unknown = await place.run('drain', 'twig');
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringMatching(/no pod called "twig"[\s\S]*did you mean twin\?/),
  ]);
  const several = await place.run('drain', 'twin');
  expect([several.code, several.stderr]).toEqual([
    2,
    expect.stringMatching(/2 pods are called "twin"[\s\S]*\w{26}, pod-silent/),
  ]);

  const dry = await place.json('drain', id, '--dry-run');
  expect(dry).toMatchObject({ pod: id, status: 'up', isAsked: false });
  const wanted = (await place.store((store) => store.pods())).map(({ desired }) => desired);
  expect(wanted).toEqual([undefined, undefined]);
  await first.drain();
  const gone = await place.run('drain', id);
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringMatching(/is down[\s\S]*nothing/)]);

  const late = await place.run('drain', 'twin', '--wait', '--timeout', '300ms', '--json');
  expect([late.code, late.stderr]).toEqual([7, expect.stringMatching(/is up after .* goes on/)]);
  expect(JSON.parse(late.stdout)).toMatchObject({ pod: podCalled('silent'), isAsked: true });
});

test('a pod that rests hears nobody, and its process is to be ended', () => {
  const row = { pod: '01M7KA9VDSYP9ZWNJ4GK7A5WTG', name: 'alder', status: 'down' };
  const resting = [{ ...row, desired: 'rest' }] as unknown as PodRow[];
  expect(() => podOf(resting, 'alder')).toThrow('(alder) rests, and hears nobody');
  expect(() => podOf([row] as unknown as PodRow[], 'alder')).toThrow('(alder) is down');
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

test('without a process to ask, drain ends with 5', async () => {
  const nobody = await fleetq(makeDirectory(), ['drain']);
  expect([nobody.code, nobody.stderr]).toEqual([5, expect.stringContaining('no process answers')]);
});
