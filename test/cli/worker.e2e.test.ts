/** `fleetq worker`: pods as real processes, killed and drained, and what looks at them from outside. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { end, makePlace, type Place } from './fleet-support.ts';
import { begin, fileAppears, fleetq, isAlive, MACHINES, makeDirectory } from './support.ts';

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
});

test('a worker without a store executes the runs of its directory, and answers on its socket', async () => {
  const cwd = makeDirectory();
  const env = { FLEETQ_MACHINES: MACHINES, FLEETQ_LOG_LEVEL: 'silent' };
  const worker = begin(['worker', '--json'], { cwd, env });
  await worker.said(/"kind":"ready"/);
  const done = await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":3}', '--wait', '--json']);
  expect(JSON.parse(done.stdout)).toMatchObject({
    output: { doubled: 6 },
    executedBy: 'running-process',
  });
  await end(worker);
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
