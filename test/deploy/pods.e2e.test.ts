/** Pods of the manifests as real processes: started, probed, drained, killed and started again. */
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run, write } from '../docs/workspace.ts';
import { runOn, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { removeTree } from '../support/remove-tree.ts';
import {
  CLAIMED,
  isContained,
  makeVolume,
  type PodOptions,
  type RunningPod,
  startPod,
} from './container.ts';
import { layImage } from './image.ts';
import { specOf } from './manifests.ts';

/** Two steps. Each tells by a file in /tmp that it is in hand; one that is held waits for another. */
const RELAY = `
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { defineMachine } from 'fleetq';
import * as z from 'zod';

const perform = async (step, isHeld) => {
  writeFileSync(join(tmpdir(), step), '');
  while (isHeld && !existsSync(join(tmpdir(), step + '.go'))) await pause(20);
  return process.env.FLEETQ_POD_NAME;
};
export const relay = defineMachine({
  name: 'relay',
  version: 1,
  input: z.object({ held: z.string() }),
  steps: (line) =>
    line
      .step('first', { check: 'none', work: ({ input }) => perform('first', input.held === 'first') })
      .step('second', {
        check: 'none',
        work: async ({ input, state, attempt }) => ({
          first: state.first,
          second: await perform('second', input.held === 'second' && attempt === 1),
          attempt,
        }),
      }),
});
await pause(Number(process.env.RELAY_START_MS ?? 0));
`;

let postgres: TestPostgres;
let place: string;
let image: string;
const running = new Set<RunningPod>();

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'fleetq-pods-'));
  // One that was built in earnest, by `node test/deploy/main.ts`, may take the place of the quick one.
  image = process.env['FLEETQ_TEST_IMAGE'] ?? layImage(place);
  write(join(image, 'app'), 'machines/relay.mjs', RELAY);
  postgres = await startPostgres();
}, 120_000);
afterAll(async () => {
  await Promise.all([...running].map((pod) => pod.remove()));
  await postgres?.remove();
  removeTree(place);
});

type Some = Pick<PodOptions, 'volumes' | 'env' | 'command'>;

function fleetOn(url: string) {
  const secrets = { 'fleetq-store': { url } };
  return {
    start: async (of: string, podName: string, some: Some = {}) => {
      const pod = await startPod({ image, place, of, podName, secrets, ...some });
      running.add(pod);
      pod.ended.then(() => running.delete(pod));
      return pod;
    },
    enqueue: async (held: string) => {
      const text = `insert into step_tracker (machine, payload) values ('relay', $1) returning task_id`;
      const [row] = await runOn<{ task_id: string }>(url, text, [JSON.stringify({ held })]);
      return row!.task_id;
    },
    ended: async (task: string) => {
      const text = 'select status, result, claims, crashes from step_tracker where task_id = $1';
      const look = () => runOn<Row>(url, text, [task]).then(([row]) => row!);
      await expect.poll(async () => (await look()).status, { timeout: 90_000 }).toBe('completed');
      const { result, claims, crashes } = await look();
      return { result: JSON.parse(result) as unknown, claims, crashes };
    },
    boots: async () => {
      const rows = await runOn<{ boot: number }>(url, 'select boot from pod_health order by boot');
      return rows.map(({ boot }) => Number(boot));
    },
  };
}

interface Row {
  readonly status: string;
  readonly result: string;
  readonly claims: number;
  readonly crashes: number;
}

async function migrated(): Promise<string> {
  const url = await postgres.createDatabase();
  const job = await fleetOn(url).start('fleetq-migrate', 'fleetq-migrate-x');
  expect(await job.ended).toMatchObject({ code: 0 });
  return url;
}

async function ready(pod: RunningPod): Promise<void> {
  await expect
    .poll(() => pod.ask('/readyz'), { timeout: 90_000 })
    .toEqual({ status: 200, text: 'ready\n' });
}

async function entered(pod: RunningPod, step: string): Promise<void> {
  const file = join(pod.volumes['tmp']!, step);
  await expect.poll(() => existsSync(file), { timeout: 90_000 }).toBe(true);
}

const { terminationGracePeriodSeconds, containers } = specOf('fleetq-elastic');
const GRACE_MS = terminationGracePeriodSeconds! * 1_000;
const PRE_STOP = containers[0]?.lifecycle?.preStop?.exec?.command ?? [];

test('the Job makes the tables, as a user who may write nowhere', {
  timeout: 120_000,
}, async () => {
  const url = await migrated();
  const fleet = fleetOn(url);
  expect(await (await fleet.start('fleetq-migrate', 'again')).ended).toMatchObject({ code: 0 });
  if (!isContained) return;
  // So that the other tests mean what they say: this is what runs them.
  const look = `
    const status = fs.readFileSync('/proc/self/status', 'utf8');
    const write = (path) => { try { fs.writeFileSync(path, ''); } catch (e) { return e.code; } };
    const caps = /CapEff:\\s*(\\w+)/.exec(status)[1];
    console.log(JSON.stringify([process.pid, process.getuid(), caps, write('/app/x'), write('/x')]));
  `;
  const command = ['node', '-e', look];
  const { output } = await (await fleet.start('fleetq-migrate', 'look', { command })).ended;
  expect(JSON.parse(output)).toEqual([1, 1000, '0000000000000000', 'EROFS', 'EROFS']);
});

test('an elastic pod drains within its grace, unready first, and the next has what it began', {
  timeout: 120_000,
}, async () => {
  const fleet = fleetOn(await migrated());
  const old = await fleet.start('fleetq-elastic', 'elastic-a');
  await ready(old);
  expect(await old.ask('/livez')).toEqual({ status: 200, text: 'alive\n' });
  const task = await fleet.enqueue('first');
  await entered(old, 'first');
  // As a rollout does it: the new pod is there before the old one is asked to go.
  const next = await fleet.start('fleetq-elastic', 'elastic-b');
  await ready(next);

  const begun = performance.now();
  const [sleep = '', seconds = ''] = PRE_STOP;
  await run(place, sleep, [seconds]);
  old.signal('SIGTERM');
  const draining = { status: 503, text: 'draining\n' };
  await expect.poll(() => old.ask('/readyz'), { timeout: 90_000 }).toEqual(draining);
  expect((await old.ask('/livez')).status).toBe(200);
  write(old.volumes['tmp']!, 'first.go', '');
  const { code, output } = await old.ended;
  expect([code, performance.now() - begun < GRACE_MS], output).toEqual([0, true]);

  const { result, ...counts } = await fleet.ended(task);
  expect(result).toEqual({ first: 'elastic-a', second: 'elastic-b', attempt: 1 });
  expect(counts).toEqual({ claims: 2, crashes: 0 });
  next.signal('SIGTERM');
  expect((await next.ended).code).toBe(0);
});

test('a stable pod that was killed goes on from its own disk, and repeats nothing on record', {
  timeout: 120_000,
}, async () => {
  const fleet = fleetOn(await migrated());
  const data = makeVolume(place, CLAIMED);
  // Only what is on its disk can tell it that the first step is done.
  const env = { FLEETQ_ARCHIVE: '1h' };
  const killed = await fleet.start('fleetq-stable', 'stable-0', { volumes: { data }, env });
  await ready(killed);
  const task = await fleet.enqueue('second');
  await entered(killed, 'second');
  killed.signal('SIGKILL');
  await killed.ended;

  // A kubelet that is asked to opens whatever is in the volume to its group, at every start.
  if (isContained) await run(place, 'chmod', ['-R', 'g+rwX', data]);
  const next = await fleet.start('fleetq-stable', 'stable-0', { volumes: { data }, env });
  // Nobody else is there, and alone it would have to wait twice the silence before it might sweep.
  const { result } = await fleet.ended(task);
  expect(result).toEqual({ first: 'stable-0', second: 'stable-0', attempt: 2 });
  expect(existsSync(join(next.volumes['tmp']!, 'first'))).toBe(false);
  expect(await fleet.boots()).toEqual([1, 2]);
  next.signal('SIGTERM');
  expect((await next.ended).code).toBe(0);
});

test('a pod that is asked to go while it starts goes, also as process number 1', {
  timeout: 60_000,
}, async () => {
  const fleet = fleetOn(await migrated());
  const pod = await fleet.start('fleetq-elastic', 'elastic-c', {
    env: { RELAY_START_MS: '30000' },
  });
  const starting = { status: 503, text: 'starting\n' };
  await expect.poll(() => pod.ask('/readyz'), { timeout: 90_000 }).toEqual(starting);
  pod.signal('SIGTERM');
  const { code, output } = await pod.ended;
  expect(code, output).toBe(0);
});
