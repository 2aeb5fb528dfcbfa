/** `fleetq worker`: pods as real processes, killed and drained, and what looks at them from outside. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/postgres.ts';
import { crashImage } from '../support/temp-dir.ts';
import { end, makePlace, type Place } from './fleet-support.ts';
import { begin as beginHere, fleetq } from './in-process.ts';
import { begin, fileAppears, isAlive, MACHINES, makeDirectory } from './support.ts';

interface PodTold {
  readonly pod: string;
  readonly name: string;
  readonly status: string;
  readonly isLeader: boolean;
  readonly claimCount: number;
}

async function podsOf(place: Place, ...args: string[]): Promise<PodTold[]> {
  const { stdout } = await place.run('pods', '--json', ...args);
  return (JSON.parse(stdout) as { pods: PodTold[] }).pods;
}

test('a worker where no machines are ends at once, and joins no fleet with the samples of FleetQ', async () => {
  const { code, stderr } = await begin(['worker'], { cwd: makeDirectory() }).ended;
  expect(code).toBe(2);
  expect(stderr).toMatch(/there are no machines: .*\/machines\n.*--machines <path>/);
});

test('pods are processes below the data directory; one that dies is started again; SIGTERM ends all', async () => {
  const place = await makePlace();
  const worker = await place.worker('--pods', '2', '--pod-name', 'host');
  await worker.said(
    /"host-1","kind":"ready"[\s\S]*"kind":"ready"|"kind":"ready"[\s\S]*"host-1","kind":"ready"/,
  );
  const pods = await podsOf(place);
  expect(pods.map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
    'host-1 up',
    'host-2 up',
  ]);
  expect(['pod-1', 'pod-2'].map((name) => existsSync(join(place.cwd, '.fleetq', name)))).toEqual([
    true,
    true,
  ]);
  const leads = await place.run('leader');
  expect(leads.stdout.trim().split('\t')[0]).toBe(pods.find(({ isLeader }) => isLeader)?.pod);

  const pid = Number(worker.ready['pid']);
  process.kill(pid, 'SIGKILL');
  const name = worker.ready['name'];
  await worker.said(new RegExp(`"${name}","kind":"died","pid":${pid},"how":"SIGKILL","againInMs"`));
  const again = new RegExp(`"died"[\\s\\S]*"${name}","kind":"ready","pid":(\\d+),"boot":2`);
  const second = Number((await worker.said(again))[1]);
  const { stdout } = await place.run('enqueue', 'test/quick', '--input', '{"n":2}', '--wait');
  expect(JSON.parse(stdout)).toEqual({ doubled: 4 });

  await end(worker);
  expect([pid, second].filter(isAlive)).toEqual([]);
  expect(await podsOf(place)).toEqual([]);
  expect((await podsOf(place, '--all')).every(({ status }) => status === 'down')).toBe(true);
});

test('a worker whose pods cannot begin ends with their error', async () => {
  const cwd = makeDirectory();
  const env = {
    FLEETQ_STORE_URL: `sqlite:${join(cwd, 'store', 'f.db')}`,
    FLEETQ_MACHINES: MACHINES,
  };
  for (const args of [['worker'], ['worker', '--pods', '2']]) {
    const ended = await begin(args, { cwd, env }).ended;
    expect([ended.code, ended.stderr]).toEqual([6, expect.stringContaining('fleetq migrate up')]);
  }
  const open = begin(['worker', '--listen', '0.0.0.0:0'], {
    cwd,
    env: { FLEETQ_MACHINES: MACHINES },
  });
  const { code, stderr } = await open.ended;
  expect([code, stderr]).toEqual([2, expect.stringMatching(/hint: .*fleetq token new/)]);
});

test('a worker without a store is asked to drain by its socket, and a signal does not hurry it', async () => {
  const cwd = makeDirectory();
  const env = { FLEETQ_MACHINES: MACHINES, FLEETQ_LOG_LEVEL: 'silent' };
  const worker = begin(['worker', '--json'], { cwd, env });
  await worker.said(/"kind":"ready"/);
  const gate = join(cwd, 'gate');
  const input = JSON.stringify({ gate });
  const started = await fleetq(cwd, ['start', 'test/gated', '--input', input, '--json']);
  expect(JSON.parse(started.stdout)).toMatchObject({ executedBy: 'running-process' });
  await fileAppears(`${gate}.in`);
  const dry = await fleetq(cwd, ['drain', '--dry-run', '--json']);
  expect(JSON.parse(dry.stdout)).toEqual({ pid: worker.child.pid, isAsked: false, isGone: false });
  const waiting = beginHere(cwd, ['drain', '--wait']);
  await waiting.said(/is asked to drain/);
  // Whatever keeps it up may end it at the same time: the phase it is in has its budget all the same.
  worker.child.kill('SIGTERM');
  const refused = () => fleetq(cwd, ['start', 'test/quick', '--input', '{"n":1}']);
  await expect.poll(async () => (await refused()).stderr).toContain('draining');
  expect(worker.child.exitCode).toBeNull();
  writeFileSync(gate, '');
  expect((await waiting.ended).code).toBe(0);
  expect((await worker.ended).code).toBe(0);
  expect(existsSync(join(cwd, '.fleetq', 'fleetq.sock'))).toBe(false);
  const { runs } = JSON.parse((await fleetq(cwd, ['runs', '--json'])).stdout);
  expect(runs).toMatchObject([{ status: 'active', state: 'main.persist', attempt: 1 }]);
});

test('a pod below --pods begins anew when it has drained, and no other does', async () => {
  const place = await makePlace();
  const patient = ['--silence', '20s'];
  const worker = await place.worker(...patient, '--pods', '2', '--pod-name', 'host');
  await worker.said(/"kind":"ready"[\s\S]*"kind":"ready"/);
  const drained = await place.run('drain', 'host-1', '--wait');
  expect(drained.code, drained.stderr).toBe(0);
  await worker.said(/"host-1","kind":"died","pid":\d+,"how":"code 0","againInMs":\d+/);
  await worker.said(/"host-1","kind":"ready","pid":\d+,"boot":2/);
  const { stdout } = await end(worker);
  expect(stdout).not.toMatch(/"host-2","kind":"ready","pid":\d+,"boot":2/);
});

test('what a dead pod held is given back: by the leader, or by the command where it was fenced', async () => {
  const place = await makePlace();
  const gate = join(place.cwd, 'gate');
  const first = await place.worker('--data-dir', 'first');
  const { task } = await place.json('enqueue', 'test/gated', '--input', JSON.stringify({ gate }));
  await fileAppears(`${gate}.in`);
  first.child.kill('SIGKILL');
  await first.ended;
  await expect
    .poll(async () => (await place.run('sweep', '--dry-run')).stdout, { timeout: 90_000 })
    .toMatch(/\tsilent\t/);

  // Alone the command does not judge: the pod is only silent, and its task stays where it is.
  const alone = await place.run('sweep');
  expect([alone.code, alone.stdout]).toEqual([0, '']);
  expect(alone.stderr).toContain('is silent: left to the leader');
  expect(await place.json('run', task)).toMatchObject({ status: 'claimed' });

  const second = await place.worker('--data-dir', 'second');
  writeFileSync(gate, '');
  const done = await place.run('wait', task, '--timeout', '25s');
  expect(done.code, done.stderr).toBe(0);
  expect(await place.json('run', task)).toMatchObject({ status: 'completed', claims: 2 });
  const asked = await place.json('sweep', '--data-dir', 'second');
  expect(asked).toMatchObject({ by: 'leader', swept: [], left: [] });
  await end(second);
});

test('probes tell a process that is alive from one that is ready, and metrics name no run', async () => {
  const place = await makePlace();
  const worker = await place.worker('--health-listen', '127.0.0.1:0');
  const at = `http://${worker.ready['health']}`;
  const ask = async (path: string) => {
    const answer = await fetch(`${at}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  expect(await ask('/livez')).toEqual({ status: 200, text: 'alive\n' });
  expect(await ask('/readyz')).toEqual({ status: 200, text: 'ready\n' });
  expect((await ask('/nowhere')).status).toBe(404);
  expect((await fetch(`${at}/livez`, { method: 'POST' })).status).toBe(405);

  const gate = join(place.cwd, 'gate-of-a-secret-name');
  const { task } = await place.json('enqueue', 'test/gated', '--input', JSON.stringify({ gate }));
  await place.run('enqueue', 'test/quick', '--input', '{"n":1}', '--wait');
  await fileAppears(`${gate}.in`);
  const { text } = await ask('/metrics');
  expect(text).toMatch(/^fleetq_tasks_claimed_total 2$/m);
  expect(text).toMatch(/^fleetq_tasks_settled_total\{to="completed"\} [1-9]/m);
  expect(text).toMatch(/^fleetq_runs_held 1$/m);
  expect(text).toMatch(/^fleetq_pod_ready 1$/m);
  expect(text).toMatch(
    /^fleetq_runs_finished_total\{machine="test\/quick",outcome="completed"\} 1$/m,
  );
  expect(text).not.toContain(task);
  expect(text).not.toMatch(/secret|[0-9A-HJKMNP-TV-Z]{26}/);

  // While it drains it is alive, and not ready.
  worker.child.kill('SIGTERM');
  await expect.poll(async () => (await ask('/readyz')).status, { timeout: 90_000 }).toBe(503);
  expect((await ask('/readyz')).text).toBe('draining\n');
  expect((await ask('/livez')).status).toBe(200);
  writeFileSync(gate, '');
  expect((await worker.ended).code).toBe(0);
});

test('a process that waits for another one with its journal shows that in its metrics', async () => {
  const place = await makePlace();
  const first = await place.worker('--data-dir', 'first', '--pod-name', 'alder');
  const clone = crashImage(join(place.cwd, 'first'), join(place.cwd, 'clone'));
  const holder = JSON.parse(readFileSync(join(place.cwd, 'first', 'holder.json'), 'utf8'));
  delete holder.file;
  holder.disk.device = 'another';
  writeFileSync(join(clone, 'holder.json'), JSON.stringify(holder));
  const at = `127.0.0.1:${await freePort()}`;
  const second = begin(['worker', '--json', '--data-dir', 'clone', '--health-listen', at], {
    cwd: place.cwd,
    env: place.env,
    timeoutMs: 60_000,
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://${at}${path}`).catch(() => undefined);
    return answer === undefined ? '' : await answer.text();
  };
  await expect.poll(() => ask('/readyz'), { timeout: 60_000 }).toContain('fleetq journal adopt');
  const text = await ask('/metrics');
  expect(text).toMatch(/^fleetq_pod_ready 0$/m);
  expect(text).toMatch(/^fleetq_journal_alarms 1$/m);
  const { stdout } = await place.run('doctor', '--data-dir', 'clone');
  expect(stdout).toMatch(/waits for another process with this journal/);
  second.child.kill('SIGTERM');
  await second.ended;
  await end(first);
});
