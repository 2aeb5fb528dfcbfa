/** A SQLite file that is locked, full or read-only: what is said, and that nothing is half done. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { StoreBusyError } from '../../src/store/errors.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { makeSmallDisk, type SmallDisk, whyNoSmallDisk } from '../journal/small-disk.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { newTask } from './factories.ts';
import { openMigrated } from './sqlite-harness.ts';
import { killChildrenAfterEach, StoreChild } from './sqlite-processes.ts';

const newDir = useTempDirs();
killChildrenAfterEach();
const reason = whyNoSmallDisk();
if (reason !== undefined) process.stderr.write(`skipped: ${reason}\n`);

const disks: SmallDisk[] = [];
afterEach(() => {
  for (const disk of disks.splice(0)) disk.remove();
});

async function lockedStore() {
  const file = join(newDir(), 'store.db');
  await (await openMigrated(file)).close();
  const clock = new FakeClock();
  const store = await openSqliteStore(file, { clock, random: seededRandom(1) });
  const holder = new Database(file);
  holder.exec('begin immediate');
  return { clock, store, holder };
}

/** What resolves without time going by. */
async function settledOn<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  await clock.advance(0);
  return promise;
}

test('a file that stays locked is busy after a while, and never for ever', async () => {
  const { clock, store, holder } = await lockedStore();
  const task = newTask();
  const refused = store.enqueue([task]).catch((error: unknown) => error);
  await clock.advance(4_000);
  expect(clock.timerCount).toBe(1);
  await clock.advance(2_000);
  expect(await refused).toBeInstanceOf(StoreBusyError);
  expect(clock.timerCount).toBe(0);
  // Readers see what there was; nobody has to wait for a writer.
  expect(await store.list({ countMax: 10 })).toEqual([]);
  holder.exec('commit');
  expect(await store.enqueue([task])).toMatchObject([{ isNew: true }]);
  holder.close();
  await store.close();
});

test('a file that is locked for a moment is waited for', async () => {
  const { clock, store, holder } = await lockedStore();
  const answer = store.enqueue([newTask()]);
  await clock.advance(1_000);
  holder.exec('commit');
  await clock.advance(1_000);
  expect(await answer).toMatchObject([{ isNew: true }]);
  holder.close();
  await store.close();
});

test('a write waits for a persist of its own process without holding the loop, and goes next', async () => {
  const file = join(newDir(), 'store.db');
  await (await openMigrated(file)).close();
  const clock = new FakeClock();
  const store = await openSqliteStore(file, { clock, random: seededRandom(1) });
  const persist = await settledOn(clock, store.begin());
  const answer = store.enqueue([newTask()]);
  const next = store.begin();
  await clock.advance(100);
  // Only what takes the file back ticks: nobody has tried in vain, and nobody pauses.
  expect(clock.timerCount).toBe(1);
  const order: string[] = [];
  void answer.then(() => order.push('write'));
  void next.then(() => order.push('next'));
  await persist.rollback();
  expect(await settledOn(clock, answer)).toMatchObject([{ isNew: true }]);
  await (await settledOn(clock, next)).rollback();
  expect(order).toEqual(['write', 'next']);
  await store.close();
});

test.skipIf(reason)(
  'a full disk refuses what does not fit, keeps what was acknowledged, and works when there is space',
  async () => {
    const disk = await makeSmallDisk(8);
    disks.push(disk);
    const file = join(disk.directory, 'data', 'store.db');
    const child = new StoreChild({ mode: 'fill', file, name: 'alder' }, disk.inside);
    const full = await child.hears('refused');
    expect(full).toMatchObject({ code: 'FLEETQ_STORE_UNREACHABLE', verdict: 'retry' });
    expect(full.message).toMatch(/full/);
    const acknowledged = () => child.all('enqueued').map(({ task }) => task);
    await expect.poll(() => child.all('refused').length, { timeout: 90_000 }).toBe(2);
    const then = child.all('refused')[1]!;
    expect(acknowledged().length).toBeGreaterThan(50);
    expect([...then.tasks!].sort()).toEqual(acknowledged().sort());
    expect(then['violations']).toEqual([]);

    disk.run('mount', '-o', 'remount,size=64m', disk.directory);
    child.go();
    const freed = await child.hears('freed');
    expect(freed.tasks).toHaveLength(then.tasks!.length + 20);
    expect([...freed.tasks!].sort()).toEqual(acknowledged().sort());
    expect(freed['violations']).toEqual([]);
    expect(await child.ended).toBe(0);
  },
);

test.skipIf(reason)('a directory that cannot be written to is refused with a hint', async () => {
  const disk = await makeSmallDisk(8);
  disks.push(disk);
  const [there, missing] = ['there', 'missing'].map((name) => join(disk.directory, name, 's.db'));
  const open = async (file: string) => {
    const child = new StoreChild({ mode: 'open', file, name: 'alder' }, disk.inside);
    await child.ended;
    return child.said;
  };
  expect(await open(there!)).toEqual([{ event: 'opened' }]);
  disk.run('mount', '-o', 'remount,ro', disk.directory);
  for (const file of [there!, missing!]) {
    const [said] = await open(file);
    expect(said).toMatchObject({ event: 'refused', hint: expect.any(String) });
    expect(said?.code).toMatch(/^FLEETQ_STORE_(OPTIONS|UNREACHABLE)$/);
  }
  disk.run('mount', '-o', 'remount,rw', disk.directory);
  expect(await open(there!)).toEqual([{ event: 'opened' }]);
});
