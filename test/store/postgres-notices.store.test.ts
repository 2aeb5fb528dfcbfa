/** Which pods a notification names, by the tables, and that it arrives with them. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Notice } from '../../src/store/notice.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import { birthOf, newTask, podOf } from './factories.ts';
import { options, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function open(): Promise<Store> {
  const store = await openPostgresStore(scene.url, options);
  opened.push(store);
  return store;
}

/** What is heard of what `act` puts in, from the moment at which pods are named. */
async function heardOf(act: (store: Store) => Promise<unknown>): Promise<Notice | undefined> {
  const [producer, listener] = await Promise.all([open(), open()]);
  const heard: (Notice | undefined)[] = [];
  const stop = await listener.listen((hint, notice) => hint === 'ready' && heard.push(notice));
  // The first one asks which pods there are.
  await producer.enqueue([newTask()]);
  await vi.waitFor(() => expect(heard).toHaveLength(1), 30_000);
  expect(heard[0]).toBeUndefined();
  await act(producer);
  await vi.waitFor(() => expect(heard).toHaveLength(2), 30_000);
  await stop!();
  return heard[1];
}

test('pods that are up, are heard, can write and have room are named; others are not', async () => {
  const store = await open();
  const names = ['alder', 'birch', 'cedar', 'drained', 'silent', 'stalled', 'full', 'other'];
  for (const name of names) await store.register(birthOf(name));
  await store.markDraining(podOf('drained'));
  await scene.client.query(
    `update pod_health set last_heartbeat = now() - interval '1 hour' where pod_id = $1`,
    [podOf('silent')],
  );
  await scene.client.query(`update pod_health set report = $2 where pod_id = $1`, [
    podOf('stalled'),
    '{"stalled":"disk full"}',
  ]);
  await scene.client.query(`update pod_health set report = $2 where pod_id = $1`, [
    podOf('full'),
    '{"held":51,"capacity":51}',
  ]);
  await scene.client.query(`update pod_health set routes = '{none@1}' where pod_id = $1`, [
    podOf('other'),
  ]);
  const notice = await heardOf((producer) => producer.enqueue([newTask()]));
  expect(notice?.atOnce).toBe(1);
  expect([...notice!.pods].sort()).toEqual(['alder', 'birch', 'cedar'].map(podOf).sort());
});

test('many tasks at once call every pod', async () => {
  const store = await open();
  for (const name of ['alder', 'birch', 'cedar']) await store.register(birthOf(name));
  const many = Array.from({ length: 100 }, () => newTask());
  expect(await heardOf((producer) => producer.enqueue(many))).toBeUndefined();
});

test('what a transaction of the caller puts in names pods too', async () => {
  const store = await open();
  for (const name of ['alder', 'birch', 'cedar']) await store.register(birthOf(name));
  const notice = await heardOf(async (producer) => {
    await scene.client.query('begin');
    await producer.enqueue([newTask()], undefined, undefined, scene.client);
    await scene.client.query('commit');
  });
  expect(notice).toMatchObject({ atOnce: 1, pods: { length: 3 } });
});
