/** The heart of a real pod: a thread of its own over a real file, with what it tells and when it stops. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { afterEach, expect, test, vi } from 'vitest';
import type { Heard } from '../../src/fleet/beat-loop.ts';
import type { Heart } from '../../src/fleet/heart.ts';
import { threadHeart } from '../../src/fleet/thread-heart.ts';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { createFleet, type Fleet } from '../../src/index.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { birthOf, podOf } from '../store/harness.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const POD = podOf('alder');
const newDir = useTempDirs();
const workers: Worker[] = [];
const onWorker = (worker: Worker) => workers.push(worker);
process.on('worker', onWorker);

let heart: Heart | undefined;
let store: Store | undefined;
let fleet: Fleet | undefined;
afterEach(async () => {
  await heart?.stop();
  await store?.close();
  fleet?.stopNow();
  [heart, store, fleet] = [undefined, undefined, undefined];
  workers.length = 0;
});

async function newHeart(times: { heartbeatMs: number; silentMs: number }) {
  const file = join(newDir(), 'fleet.db');
  const url = `sqlite:${file}`;
  store = await openStore(url, { clock: systemClock, random: systemRandom, migrates: true });
  await store.register(birthOf('alder'));
  const heard: { readonly heard: Heard; readonly deadlineMs: number }[] = [];
  const failures: unknown[] = [];
  const made = threadHeart(
    url,
    false,
  )({
    pod: POD,
    nonce: birthOf('alder').nonce,
    ...times,
    clock: systemClock,
    mintNonce: () => systemRandom.hex(8),
    news: () => ({ lsn: 7, report: { from: 'main' } }),
    onHeard: (one) => heard.push({ heard: one, deadlineMs: made.deadlineMs }),
    onFailed: (error) => failures.push(error),
  });
  heart = made;
  const row = async () => (await store!.pods())[0]!;
  return { file, heart: made, heard, failures, row };
}

const eventually = (look: () => unknown) => vi.waitFor(look, { timeout: 90_000, interval: 20 });

/** The whole thread stands still: no timer, no answer, nothing. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('it does not beat before it is told to, and then at once', async () => {
  const { heart, heard, row } = await newHeart({ heartbeatMs: 1_000, silentMs: 5_000 });
  await heart.ready();
  await sleep(200);
  expect(await row()).toMatchObject({ seq: 0 });
  expect(heart.deadlineMs, 'nobody counts on it yet').toBeLessThan(systemClock.monotonicMs());
  heart.start();
  await eventually(() => expect(heard).toHaveLength(1));
  expect(await row()).toMatchObject({ seq: 1, lsn: 7, report: { from: 'main' } });
});

test('a thread that cannot open the store says so before anybody counts on it', async () => {
  const nowhere = `sqlite:${join(newDir(), 'no', 'such', 'directory', 'fleet.db')}`;
  heart = threadHeart(
    nowhere,
    false,
  )({
    pod: POD,
    nonce: 'n',
    heartbeatMs: 200,
    silentMs: 1_000,
    clock: systemClock,
    mintNonce: () => systemRandom.hex(8),
    news: () => ({ lsn: 0, report: {} }),
    onHeard: () => undefined,
    onFailed: () => undefined,
  });
  await expect(heart.ready()).rejects.toMatchObject({
    code: 'FLEETQ_HEART_FAILED',
    verdict: 'retry',
  });
});

test('I10: phases may begin until one heartbeat before the silence, counted from when the beat was sent', async () => {
  const times = { heartbeatMs: 1_000, silentMs: 5_000 };
  const { file, heart, heard } = await newHeart(times);
  await heart.ready();
  // The answer takes long: what counts is when the question left.
  const rival = new Database(file);
  rival.exec('begin immediate');
  const startedMs = systemClock.monotonicMs();
  heart.start();
  await sleep(150);
  rival.exec('rollback');
  rival.close();
  await eventually(() => expect(heard).not.toHaveLength(0));
  const [first] = heard;
  expect(first!.heard.answer.kind).toBe('taken');
  expect(first!.heard.sentMs).toBeGreaterThanOrEqual(startedMs);
  expect(first!.deadlineMs).toBeCloseTo(first!.heard.sentMs + 4_000, 1);
});

test('it beats while the main loop is busy, and stops when that has stood still for a silence', async () => {
  const times = { heartbeatMs: 100, silentMs: 1_000 };
  const { file, heart, heard } = await newHeart(times);
  await heart.ready();
  heart.start();
  await eventually(() => expect(heard.length).toBeGreaterThan(2));
  const blockedAt = Date.now();
  block(3_000);
  const reader = new Database(file, { readonly: true });
  const { last_heartbeat: beatAt } = reader
    .prepare('select last_heartbeat from pod_health')
    .get() as { last_heartbeat: number };
  reader.close();
  expect(beatAt - blockedAt, 'a busy loop is no dead pod').toBeGreaterThan(300);
  expect(beatAt - blockedAt, 'one that stands still is').toBeLessThan(2_000);
});

test('a thread that broke is followed by one that goes on in the same name', async () => {
  const { heart, heard, row } = await newHeart({ heartbeatMs: 100, silentMs: 5_000 });
  await heart.ready();
  heart.start();
  await eventually(() => expect(heard.length).toBeGreaterThan(2));
  for (let round = 1; round <= 3; round++) {
    const { seq } = await row();
    await workers.at(-1)!.terminate();
    await eventually(() => expect(workers).toHaveLength(round + 1));
    await eventually(async () => expect((await row()).seq).toBeGreaterThan(seq + 2));
  }
  const refused = heard.filter(({ heard: { answer } }) => answer.kind === 'refused');
  expect(refused, 'or its pod would drop all it has').toEqual([]);
});

test('a pod registers only when its heart can beat at once', async () => {
  const dataDir = newDir();
  const file = join(dataDir, 'fleet.db');
  const wasThere: boolean[] = [];
  // When the first thread is asked for, nobody may know the pod yet.
  const look = () => {
    const reader = existsSync(file) ? new Database(file, { readonly: true }) : undefined;
    const found = reader?.prepare('select count(*) as count from pod_health').get();
    wasThere.push((found as { count: number }).count > 0);
    reader?.close();
  };
  process.on('worker', look);
  const options = { store: `sqlite:${file}`, migrates: true, dataDir, machines: [] };
  fleet = await createFleet({ ...options, heartbeat: '200ms', silence: '2s', socket: false });
  process.off('worker', look);
  expect(wasThere).toEqual([false]);
  expect(fleet.status.pod?.isReady).toBe(true);
});
