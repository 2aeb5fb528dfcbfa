/**
 * A fleet with a past: four pods, of which one was killed while it worked and one was drained; runs that
 * were completed, tried again, rescued, that failed, wait, and are under way.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AdminServer, addressDoor, deskOf } from '../../../src/admin/index.ts';
import { systemClock, systemRandom } from '../../../src/ground/index.ts';
import { createFleet, type Fleet, type FleetOptions } from '../../../src/index.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { machines, throttles } from './machines.ts';

const PATIENCE_MS = 60_000;
const POD = fileURLToPath(new URL('pod.ts', import.meta.url));

/** What the API answers, as far as this looks at it. */
interface Told {
  readonly sweeps: readonly {
    readonly rescues?: readonly { readonly tasks: readonly string[] }[];
  }[];
  readonly runs: readonly { readonly id: string; readonly status: string }[];
  readonly deadLetters: readonly { readonly id: string }[];
  readonly groups: readonly { readonly fingerprint: string }[];
  readonly pods: readonly { readonly name: string; readonly claimCount: number }[];
  readonly count: number;
}

export interface ShotFleet {
  readonly url: string;
  /** Of runs worth a picture, by what they show. */
  readonly runs: Readonly<Record<'failed' | 'rescued', string>>;
  /** Of what was done to many at once, and of what went wrong most often. */
  readonly bulk: string;
  readonly fingerprint: string;
  stop(): Promise<void>;
}

export async function openShotFleet(): Promise<ShotFleet> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-shots-'));
  const shared: Pick<FleetOptions, 'store' | 'migrates' | 'heartbeat' | 'silence' | 'archive'> = {
    store: `sqlite:${join(directory, 'fleet.db')}`,
    migrates: true,
    heartbeat: '300ms',
    silence: '3s',
    archive: '100ms',
  };
  const pods = new Map<string, ChildProcess>();
  const start = async (podName: string) => {
    const options = { ...shared, podName, dataDir: join(directory, podName), slots: 14 };
    const child = fork(POD, [JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    pods.set(podName, child);
    await once(child, 'message');
  };
  const here = { ...shared, dataDir: join(directory, 'here'), podName: 'pictures', isClient: true };
  const fleet = await createFleet({ ...here, machines: machines(), throttles, socket: false });
  const [clock, random] = [systemClock, systemRandom];
  const desk = deskOf({ fleet, clock, random, resultBytesMax: 1_000_000, redacted: [] });
  const server = new AdminServer(desk);
  const rate = { perSecond: 1e6, burst: 1e6 };
  const at = await server.listen('127.0.0.1', 0, addressDoor({ grants: [], clock, random, rate }));
  const url = `http://${at}`;
  // The oldest leads, and is to be one that stays.
  await start('alder');
  await settle(url);
  await Promise.all(['birch', 'cedar', 'dogwood'].map(start));
  const failed = await live(fleet, url, pods);
  const rescued = await firstRescued(url);
  const bulk = await meddle(fleet, url);
  const { groups } = await ask(url, '/errors');
  const fingerprint = groups[0]!.fingerprint;
  const stop = async () => {
    await server.stop();
    for (const child of pods.values()) if (child.exitCode === null) child.kill('SIGKILL');
    await fleet.drain();
    removeTree(directory);
  };
  return { url, runs: { failed, rescued }, bulk, fingerprint, stop };
}

/** What happens to it; answers the id of one that failed. */
async function live(fleet: Fleet, url: string, pods: Map<string, ChildProcess>): Promise<string> {
  const payment = (n: number) => ({ order: `A-${1_000 + n}`, cents: 990 + n * 37, n });
  for (let n = 0; n < 20; n++) {
    await fleet.enqueueByName('llm/answer', { question: `What is ${n} times ${n}?`, n });
  }
  for (let n = 0; n < 40; n++) {
    await fleet.enqueueByName('image/pull', { ref: `app:${n}`, n }, { key: `app:${n}` });
    await fleet.enqueueByName('payment/capture', payment(n), { key: `A-${1_000 + n}` });
    if (n % 2 === 0)
      await fleet.enqueueByName(
        'webhook/deliver',
        { url: `https://hooks.example/${n}`, n: n / 2 },
        { queue: 'mail' },
      );
    await sleep(90);
    if (n === 15) await killHolding(fleet, url, pods.get('cedar')!);
    if (n === 25) pods.get('dogwood')!.send('drain');
  }
  await until(url, '/sweeps', ({ sweeps }) =>
    sweeps.some((sweep) => sweep.rescues?.some(({ tasks }) => tasks.length > 0)),
  );
  await until(url, '/runs/count?filter=status:pending', ({ count }) => count === 0);
  const { deadLetters } = await ask(url, '/dead-letters?filter=machine:payment/capture');
  return deadLetters[0]!.id;
}

/** What people have set, whatever happens. */
async function settle(url: string): Promise<void> {
  await post(url, '/queues', { what: 'queue.limit', name: 'default', limit: 24 });
  await post(url, '/queues', { what: 'queue.limit', name: 'mail', limit: 4 });
  await post(url, '/queues', { what: 'queue.pause', name: 'exports' });
  const input = { url: 'https://hooks.example/nightly', n: 1 };
  const daily = { machine: 'webhook/deliver', cron: '30 2 * * *', zone: 'Europe/Berlin', input };
  await post(url, '/schedules/nightly-report', daily);
  const often = { machine: 'image/pull', cron: '*/15 * * * *', input: { ref: 'app:latest', n: 2 } };
  await post(url, '/schedules/keep-images-warm', often);
  await post(url, '/schedules/weekly-digest', { ...daily, cron: '0 7 * * 1', zone: 'Asia/Tokyo' });
  await post(url, '/schedules/weekly-digest/pause', {});
}

/** What people do to it; answers the id of what is done to many. */
async function meddle(fleet: Fleet, url: string): Promise<string> {
  for (let n = 0; n < 5; n++)
    await fleet.enqueueByName('image/pull', { ref: `export:${n}`, n }, { queue: 'exports' });
  const { runs } = await ask(url, '/runs?filter=machine:llm/answer%20status:waiting&limit=3');
  const words = ['asked twice', 'the customer withdrew', 'the model is too dear'];
  for (const [n, { id }] of runs.entries())
    await post(url, `/runs/${id}/cancel`, { reason: words[n] });
  const [{ id: letter } = { id: '' }] = (await ask(url, '/dead-letters')).deadLetters;
  await post(url, `/runs/${letter}/redrive`, {});
  await post(url, '/bulk', { what: 'redrive', filter: 'is:dead-letter machine:webhook/deliver' });
  const slow = { what: 'redrive', filter: 'is:dead-letter machine:payment/capture', rate: 1 };
  const { id } = await post(url, '/bulk', slow);
  return id;
}

async function post(url: string, path: string, body: object): Promise<{ readonly id: string }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { readonly id: string };
}

/** Killed with something in its hands: it is given work until it has some. */
async function killHolding(fleet: Fleet, url: string, cedar: ChildProcess): Promise<void> {
  const isHolding = ({ pods }: Told) =>
    pods.some(({ name, claimCount }) => name === 'cedar' && claimCount > 1);
  for (let n = 24; n < 80 && !isHolding(await ask(url, '/pods')); n += 4) {
    await fleet.enqueueByName('llm/answer', { question: 'What is the time?', n });
    await sleep(300);
  }
  cedar.kill('SIGKILL');
}

/** One that went on elsewhere after its pod was killed, and came to an end. */
async function firstRescued(url: string): Promise<string> {
  const { sweeps } = await ask(url, '/sweeps');
  const tasks = sweeps.flatMap((sweep) => (sweep.rescues ?? []).flatMap((each) => each.tasks));
  const { runs } = await ask(url, `/runs?filter=id:${tasks.slice(0, 50).join(',')}`);
  return (runs.find(({ status }) => status === 'completed') ?? runs[0])!.id;
}

async function ask(url: string, path: string): Promise<Told> {
  return (await (await fetch(`${url}/api/v1${path}`)).json()) as Told;
}

async function until(url: string, path: string, isSo: (told: Told) => boolean): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!isSo(await ask(url, path))) {
    if (performance.now() > giveUpAt)
      throw new Error(`${path} did not come to what was waited for`);
    await sleep(200);
  }
}
