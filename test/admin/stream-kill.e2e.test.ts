/**
 * Must show: processes are killed and started again under load, and a client that reconnects with the
 * id of the last event it got has, in the end, exactly the records that count, without hole or double.
 */
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rowsOf } from '../../src/fleet/index.ts';
import { type RunId, systemClock, systemRandom } from '../../src/ground/index.ts';
import { decodeRows, identityCodec } from '../../src/journal/index.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { TIMES } from '../cli/fleet-support.ts';
import { begin, type Call, fleetq, makeDirectory } from '../cli/support.ts';
import { newTasks } from '../store/factories.ts';
import { StreamClient, type ToldRecord } from './stream-client.ts';

const MACHINES = fileURLToPath(new URL('./stream-machines', import.meta.url));
const KILLS = 8;
const RUNS = 6;
/** Of each run, which has ten times as many: then a kill comes in the middle of it. */
const RECORDS_PER_ROUND = 3;
const PATIENCE_MS = 120_000;

const until = (fact: () => unknown, what: string) =>
  expect.poll(fact, { timeout: PATIENCE_MS, interval: 50, message: what });

interface Pod {
  readonly name: string;
  readonly socket: string;
  call: Call | undefined;
}

async function startPod(pod: Pod, cwd: string, env: Readonly<Record<string, string>>) {
  const place = ['--data-dir', join(cwd, pod.name), '--pod-name', pod.name];
  const quiet = { ...env, FLEETQ_LOG_LEVEL: 'silent' };
  pod.call = begin(['worker', '--json', ...place], { cwd, env: quiet, timeoutMs: 300_000 });
  await pod.call.said(/"kind":"ready"/);
}

async function killPod(pod: Pod): Promise<void> {
  const { child } = pod.call!;
  const gone = once(child, 'close');
  child.kill('SIGKILL');
  await gone;
  pod.call = undefined;
}

const podIn = (cwd: string, name: string): Pod => {
  return { name, socket: join(cwd, name, 'fleetq.sock'), call: undefined };
};

/** Lets the runs of a machine go on, round by round. */
function gateIn(cwd: string): { readonly path: string; open(): void } {
  const path = join(cwd, 'gate.txt');
  let round = 0;
  writeFileSync(path, '0');
  return {
    path,
    open: () => {
      // Whoever reads it meanwhile finds the one or the other.
      writeFileSync(`${path}.new`, `${++round}`);
      renameSync(`${path}.new`, path);
    },
  };
}

/** The runs may go on a little, and have begun to when this resolves. */
async function playRound(
  gate: { open(): void },
  client: StreamClient,
  ids: readonly string[],
): Promise<void> {
  const before = new Map(ids.map((id) => [id, lastOf(client, id)]));
  gate.open();
  const isUnderWay = (id: string) =>
    lastOf(client, id) >= before.get(id)! + RECORDS_PER_ROUND || isFinal(client.records.get(id));
  await until(() => ids.every(isUnderWay), 'records are told').toBe(true);
}

function lastOf(client: StreamClient, id: string): number {
  return client.records.get(id)?.at(-1)?.seq ?? -1;
}

/** What the store holds of a run, put together and verified. */
async function archived(store: Store, id: RunId) {
  const [row] = await store.find([id]);
  const segments = await store.histories([{ task: id, generation: row!.generation }]);
  const rows = rowsOf(id, segments, row!.lastHash);
  return decodeRows(id, rows, identityCodec).map(({ lsn: _, ...record }) => record);
}

const bare = ({ run: _run, generation: _generation, ...record }: ToldRecord) => record;

/** Runs that are under way when a pod is killed, and the client that follows them to their end. */
class Batch {
  readonly ids: readonly RunId[];
  readonly client: StreamClient;
  readonly following: Promise<void>;

  constructor(ids: readonly RunId[], pods: readonly Pod[], first: number) {
    this.ids = ids;
    this.client = new StreamClient(['runs', ...ids.map((id) => `run:${id}`)].join(','));
    // The other one next time: so that it moves between the two.
    const next = () => pods[(first + this.client.connections) % pods.length]!.socket;
    this.following = this.client.run(next);
  }

  get hasBegun(): boolean {
    return this.ids.every((id) => lastOf(this.client, id) >= RECORDS_PER_ROUND);
  }

  get isTold(): boolean {
    return this.ids.every((id) => isFinal(this.client.records.get(id)));
  }
}

test('pods are killed and come back, or are taken over: clients miss nothing and see nothing twice', async () => {
  const cwd = makeDirectory();
  const address = `sqlite:${join(cwd, 'store', 'fleet.db')}`;
  const env = {
    ...TIMES,
    FLEETQ_SILENCE: '3s',
    FLEETQ_STORE_URL: address,
    FLEETQ_MACHINES: MACHINES,
  };
  const options = { clock: systemClock, random: systemRandom, migrates: true };
  const store = await openStore(address, options);
  const pods = [podIn(cwd, 'alder'), podIn(cwd, 'birch')];
  await Promise.all(pods.map((pod) => startPod(pod, cwd, env)));
  const batches: Batch[] = [];
  // Load, which nobody follows but in the list.
  const load = setInterval(() => {
    store.enqueue(newTasks(20, { machine: 'test/hop' })).catch(() => undefined);
  }, 500);
  try {
    for (let kills = 0; kills < KILLS; kills++) {
      const tasks = newTasks(RUNS, { machine: 'test/stroll' });
      await store.enqueue(tasks);
      const batch = new Batch(
        tasks.map(({ id }) => id),
        pods,
        kills,
      );
      batches.push(batch);
      await until(() => batch.hasBegun, `the runs of round ${kills} begin`).toBe(true);
      const victim = pods.find(({ socket }) => socket === batch.client.socket) ?? pods[0]!;
      await killPod(victim);
      // Every other one stays away for so long that its runs are taken over.
      if (kills % 2 === 1) await takenOver(store, batch.ids);
      await startPod(victim, cwd, env);
    }
    await until(() => batches.every(({ isTold }) => isTold), 'the ends are told').toBe(true);
    for (const { ids, client } of batches) {
      expect(client.complaints).toEqual([]);
      for (const id of ids) {
        expect(client.records.get(id)!.map(bare)).toEqual(await archived(store, id));
      }
    }
    // Each client was cut off by the kill of its round, at least.
    expect(batches.every(({ client }) => client.connections >= 2)).toBe(true);
    // The list is of another process then: whoever comes back is told to look at it again.
    expect(batches.every(({ client }) => (client.counts['reset'] ?? 0) >= 1)).toBe(true);
  } finally {
    clearInterval(load);
    for (const { client } of batches) client.end();
    await Promise.all(batches.map(({ following }) => following));
    await Promise.all(pods.filter(({ call }) => call).map(killPod));
    await store.close();
  }
}, 400_000);

/** Waits until nothing of these is held by a pod that is dead. */
async function takenOver(store: Store, ids: readonly RunId[]): Promise<void> {
  const isTaken = async () => {
    const up = (await store.pods()).filter(
      ({ status, silentMs }) => status === 'up' && silentMs < 2_000,
    );
    const names = new Set<string>(up.map(({ pod }) => pod));
    const rows = await store.find(ids);
    return rows.every(({ claimedBy }) => claimedBy === undefined || names.has(claimedBy));
  };
  await until(isTaken, 'the runs are taken over').toBe(true);
}

test('alone, without a store: nothing of its journal is ever taken back', async () => {
  const cwd = makeDirectory();
  const env = { FLEETQ_MACHINES: MACHINES };
  const pod = podIn(cwd, 'alder');
  await startPod(pod, cwd, env);
  const ids: string[] = [];
  const gate = gateIn(cwd);
  for (let n = 0; n < 3; n++) {
    const input = JSON.stringify({ gate: gate.path });
    const args = ['start', 'test/stroll', '--input', input, '--json'];
    const ended = await fleetq(cwd, [...args, '--data-dir', join(cwd, 'alder')], { env });
    expect(ended.code, ended.stderr).toBe(0);
    ids.push(JSON.parse(ended.stdout).id);
  }
  const client = new StreamClient(['runs', ...ids.map((id) => `run:${id}`)].join(','));
  const following = client.run(() => pod.socket);
  const isAllTold = () => ids.every((id) => isFinal(client.records.get(id)));
  try {
    for (let kills = 0; kills < KILLS; kills++) {
      await playRound(gate, client, ids);
      await killPod(pod);
      await startPod(pod, cwd, env);
    }
    await until(isAllTold, 'the ends are told').toBe(true);
    expect(client.complaints).toEqual([]);
    expect(client.counts['rewind'] ?? 0).toBe(0);
    for (const id of ids) {
      const args = ['events', id, '--json', '--data-dir', join(cwd, 'alder')];
      const { stdout } = await fleetq(cwd, args, { env });
      const wanted = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(client.records.get(id)!.map(bare)).toEqual(wanted.map(({ lsn: _, ...rest }) => rest));
    }
  } finally {
    client.end();
    await following;
    if (pod.call) await killPod(pod);
  }
}, 400_000);

function isFinal(records: readonly ToldRecord[] | undefined): boolean {
  return records?.at(-1)?.state === 'completed';
}
