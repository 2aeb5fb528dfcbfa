/** The file a SQLite store lies in: whose it is, what is in it, and what is refused. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import {
  StoreOptionsError,
  StoreSchemaError,
  StoreUnreachableError,
} from '../../src/store/errors.ts';
import { Hints } from '../../src/store/sqlite/hints.ts';
import { migrateSqliteStore, sqliteStoreStatus } from '../../src/store/sqlite/migrate.ts';
import { placeOf } from '../../src/store/sqlite/place.ts';
import { knownMigrations } from '../../src/store/sqlite/schema.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { MINUTE, newTask, newTasks } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { openMigrated, PORTS, prompt, sqliteHarness } from './sqlite-harness.ts';

const newDir = useTempDirs();
const newFile = () => join(newDir(), 'store.db');
const open = (file: string) => openSqliteStore(file, PORTS);

async function madeFile(taskCount = 0): Promise<string> {
  const file = newFile();
  const store = await openMigrated(file);
  if (taskCount > 0) await store.enqueue(newTasks(taskCount));
  await store.close();
  return file;
}

async function refusal(opening: Promise<unknown>): Promise<Error & { hint?: string }> {
  return opening.then(
    () => expect.unreachable('it was opened'),
    (error: Error) => error,
  );
}

test('the file, and all beside it, is readable by its owner only', async () => {
  const file = join(newDir(), 'a', 'b', 'store.db');
  const store = await openMigrated(file);
  await store.enqueue([newTask()]);
  for (const made of [file, `${file}-wal`, `${file}-shm`, `${file}-ready`, `${file}-ended`]) {
    expect([made, statSync(made).mode & 0o777]).toEqual([made, 0o600]);
  }
  for (const made of [dirname(file), dirname(dirname(file))]) {
    expect(statSync(made).mode & 0o777).toBe(0o700);
  }
  await store.close();
  chmodSync(file, 0o644);
  await (await open(file)).close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a link in the place of the file, or of its directory, is refused', async () => {
  const real = await madeFile();
  const directory = newDir();
  mkdirSync(directory, { mode: 0o700 });
  symlinkSync(real, join(directory, 'store.db'));
  expect(await refusal(open(join(directory, 'store.db')))).toBeInstanceOf(StoreOptionsError);
  symlinkSync(dirname(real), join(directory, 'linked'));
  const linked = await refusal(open(join(directory, 'linked', 'store.db')));
  expect(linked).toBeInstanceOf(StoreOptionsError);
  expect(linked.message).toMatch(/symbolic link/);
  symlinkSync(real, join(directory, 'other.db-wal'));
  expect(await refusal(openMigrated(join(directory, 'other.db')))).toBeInstanceOf(
    StoreOptionsError,
  );
  expect(existsSync(join(directory, 'other.db'))).toBe(false);
});

test('a directory that others can write to is refused, and so is one in the place of the file', async () => {
  const directory = newDir();
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  const refused = await refusal(openMigrated(join(directory, 'store.db')));
  expect(refused).toBeInstanceOf(StoreOptionsError);
  expect(refused.hint).toMatch(/chmod 700/);
  chmodSync(directory, 0o700);
  mkdirSync(join(directory, 'store.db'));
  expect(await refusal(openMigrated(join(directory, 'store.db')))).toBeInstanceOf(
    StoreOptionsError,
  );
});

test('nothing is made unless asked for: a missing or empty file says how to make it', async () => {
  const file = newFile();
  const missing = await refusal(open(file));
  expect(missing).toBeInstanceOf(StoreSchemaError);
  expect(missing.hint).toMatch(/fleetq migrate/);
  const pending = knownMigrations();
  expect(await sqliteStoreStatus(file, PORTS)).toEqual({ applied: [], pending });
  expect(existsSync(dirname(file))).toBe(false);
  mkdirSync(dirname(file), { mode: 0o700 });
  writeFileSync(file, '');
  expect(await refusal(open(file))).toBeInstanceOf(StoreSchemaError);
  const { applied } = await migrateSqliteStore(file, PORTS);
  expect(applied).toHaveLength(pending.length);
  await (await open(file)).close();
});

test('somebody else’s SQLite file is refused, and not a byte of it is changed', async () => {
  const file = newFile();
  mkdirSync(dirname(file), { mode: 0o700 });
  const foreign = new Database(file);
  foreign.exec('create table step_tracker (task_id text); create table mine (a)');
  foreign.close();
  chmodSync(file, 0o644);
  const before = readFileSync(file);
  for (const opening of [open(file), openMigrated(file), migrateSqliteStore(file, PORTS)]) {
    const refused = await refusal(opening);
    expect(refused).toBeInstanceOf(StoreSchemaError);
    expect(refused.message).toMatch(/not a store of FleetQ/);
  }
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o644);
  expect(existsSync(`${file}-ready`)).toBe(false);
});

test('a file that is no SQLite file, or is cut off, is refused as damaged', async () => {
  const text = newFile();
  mkdirSync(dirname(text), { mode: 0o700 });
  writeFileSync(text, 'once upon a time '.repeat(500));
  const cut = await madeFile(200);
  truncateSync(cut, 40_000);
  const garbled = await madeFile(200);
  const bytes = readFileSync(garbled);
  bytes.fill(0x5a, 8_192, 16_384);
  writeFileSync(garbled, bytes);
  for (const file of [text, cut, garbled]) {
    const refused = await refusal(openMigrated(file));
    expect(refused).toBeInstanceOf(StoreSchemaError);
    expect(refused.message).toMatch(/damaged/);
    expect(refused.hint).toBeDefined();
  }
});

test('damage in a file too large to be read through is said to be damage where it is met', async () => {
  const file = newFile();
  const store = await openMigrated(file);
  await store.enqueue(newTasks(1_000, { payload: JSON.stringify('x'.repeat(20_000)) }));
  await store.close();
  const bytes = readFileSync(file);
  expect(bytes.length).toBeGreaterThan(16 * 1024 * 1024);
  bytes.fill(0x5a, 8 * 1024 * 1024, 9 * 1024 * 1024);
  writeFileSync(file, bytes);
  const damaged = await open(file);
  const refused = await refusal(damaged.list({ countMax: 1_000 }));
  expect(refused).toBeInstanceOf(StoreSchemaError);
  expect(refused.message).toMatch(/damaged/);
  await damaged.close();
});

test('a schema that is newer, or was made by other migrations, is refused', async () => {
  const file = await madeFile();
  const change = (sql: string) => prompt(file, (database) => database.exec(sql));
  change(`insert into schema_version (version, name, checksum) values (9999, 'x', 'x')`);
  const newer = await refusal(openMigrated(file));
  expect(newer).toBeInstanceOf(StoreSchemaError);
  expect(newer.message).toMatch(/version 9999/);
  change(`delete from schema_version where version = 9999;
    update schema_version set checksum = 'other' where version = 1`);
  expect((await refusal(open(file))).message).toMatch(/other content/);
  change(`delete from schema_version`);
  const nameless = await refusal(openMigrated(file));
  expect(nameless).toBeInstanceOf(StoreSchemaError);
  expect(nameless.message).toMatch(/no version/);
});

test('a missing index is noticed; an index of one’s own is nobody’s business', async () => {
  const file = await madeFile();
  const change = (sql: string) => prompt(file, (database) => database.exec(sql));
  change('create index mine on step_tracker (queue)');
  const store = await open(file);
  await store.checkSchema();
  change('drop index step_tracker_key');
  const refused = await refusal(store.checkSchema());
  expect(refused).toBeInstanceOf(StoreSchemaError);
  expect(refused.message).toMatch(/step_tracker_key/);
  await store.close();
});

test('the tables refuse what breaks their rules, whoever writes it', async () => {
  const file = await madeFile();
  const insert = (columns: string, values: string) => () =>
    prompt(file, (database) =>
      database.exec(`insert into step_tracker (machine, ${columns}) values ('m', ${values})`),
    );
  expect(insert('status', `'claimed'`)).toThrow(/claimed_iff_held/);
  expect(insert('status, claimed_by', `'claimed', 'p'`)).toThrow(/claimed_has_epoch/);
  expect(insert('status', `'waiting'`)).toThrow(/waiting_iff_reasoned/);
  expect(insert('status', `'completed'`)).toThrow(/ended_iff_finished/);
  expect(insert('status, finished_at', `'failed', 1`)).toThrow(/failed_has/);
  expect(insert('status', `'asleep'`)).toThrow(/CHECK/);
  expect(insert('serial_key', `'k'`)).toThrow(/serial_pending_has_turn/);
  expect(insert('run_at', `'tomorrow'`)).toThrow(/TEXT value in INTEGER column/);
  expect(insert('payload', `'{}'`)).not.toThrow();
});

test('the views answer at a prompt', async () => {
  const file = await madeFile(3);
  const ask = (sql: string) => prompt(file, (database) => database.prepare(sql).all());
  expect(ask('select * from queue_now')).toMatchObject([{ status: 'pending', tasks: 3 }]);
  expect(ask('select * from stuck_tasks')).toEqual([]);
  await sqliteHarness(file).pass(20 * MINUTE);
  const reasons = () => ask('select distinct reason from stuck_tasks');
  expect(reasons()).toEqual([{ reason: 'no live pod can run it' }]);
  const store = await open(file);
  await store.register(birthOf('alder'));
  expect(reasons()).toEqual([{ reason: 'due for a long time' }]);
  await store.claim(claimRequest(podOf('alder')));
  expect(reasons()).toEqual([]);
  await store.fence(podOf('alder'), podOf('birch'), 'proved');
  expect(reasons()).toEqual([{ reason: 'its owner is gone' }]);
  expect(ask('select * from dead_letters')).toEqual([]);
  await store.close();
});

test('a file that was replaced while in use is noticed at the next heartbeat', async () => {
  const file = await madeFile();
  const store = await open(file);
  await store.register(birthOf('alder'));
  const beat = { pod: podOf('alder'), seq: 0, nonce: 'n', lsn: 0, report: {} };
  await store.beat(beat);
  copyFileSync(file, `${file}.backup`);
  renameSync(`${file}.backup`, file);
  const refused = await refusal(store.beat({ ...beat, seq: 1 }));
  expect(refused).toBeInstanceOf(StoreUnreachableError);
  expect(refused.message).toMatch(/replaced/);
  await store.close();
});

test('a store that was closed says so, and closing it again is nothing', async () => {
  const store = await open(await madeFile());
  await store.close();
  await store.close();
  expect(await refusal(store.enqueue([newTask()]))).toBeInstanceOf(StoreUnreachableError);
});

test('a burst of hints is one at once and one at its end', async () => {
  const place = placeOf(await madeFile());
  const clock = new FakeClock();
  const hints = new Hints(place, clock);
  const isGiven = () => {
    const isWritten = statSync(place.readyHint).size > 0;
    truncateSync(place.readyHint, 0);
    return isWritten;
  };
  expect(isGiven()).toBe(false);
  hints.give('ready');
  expect(isGiven()).toBe(true);
  for (let count = 0; count < 100; count++) hints.give('ready');
  expect(isGiven()).toBe(false);
  await clock.advance(20);
  expect(isGiven()).toBe(true);
  await clock.advance(100);
  expect(isGiven()).toBe(false);
  expect(clock.timerCount).toBe(0);
  hints.give('ready');
  expect(isGiven()).toBe(true);
  hints.give('ready');
  // What is owed is given before the end.
  hints.close();
  expect(isGiven()).toBe(true);
});

test('hints reach other handles until these have heard enough', async () => {
  const file = await madeFile();
  const [store, other] = [await open(file), await open(file)];
  let heard = 0;
  const stop = await other.listen(() => heard++);
  expect(stop).toBeDefined();
  await store.enqueue([newTask()]);
  await vi.waitFor(() => expect(heard).toBeGreaterThan(0), 90_000);
  await stop?.();
  const before = heard;
  await store.enqueue([newTask()]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(heard).toBe(before);
  await store.close();
  await other.close();
});

test('calls one after the other leave the event loop its turns', async () => {
  const store = await open(await madeFile());
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  for (let count = 0; count < 100; count++) await store.enqueue([newTask()]);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(10);
  await store.close();
});

test('a rule whose index is gone is looked for row by row', async () => {
  const file = await madeFile();
  const store = await open(file);
  await store.enqueue([newTask({ key: 'k' }), newTask({ key: 'l' })]);
  prompt(file, (database) =>
    database.exec(`drop index step_tracker_key; update step_tracker set key = 'k'`),
  );
  const rule = 'a key stands for one task of its machine';
  expect(await store.violations()).toEqual([{ rule, count: 1, examples: ['sample/one/k'] }]);
  await store.close();
});
