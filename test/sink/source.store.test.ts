/** What a sink is given by each store: everything, and then whatever changes, however late it commits. */
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { pause, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/index.ts';
import { Forwarder } from '../../src/store/sink/forwarder.ts';
import { openSinkSource } from '../../src/store/sink/open-sink.ts';
import type { SinkSource } from '../../src/store/sink/sink.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import {
  birthOf,
  claimOf,
  claimRequest,
  completed,
  MACHINE,
  newTask,
  newTasks,
  podOf,
  ROUTE,
  segment,
} from '../store/factories.ts';
import { usePostgres } from '../store/postgres-harness.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { MemorySink } from './memory-sink.ts';

const PORTS = { clock: systemClock, random: systemRandom };
const POD = podOf('alder');
const postgres = usePostgres();
const tempDir = useTempDirs();

interface Scene {
  readonly store: Store;
  readonly source: SinkSource;
  readonly sink: MemorySink;
  readonly forwarder: Forwarder;
}

const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of opened) await one.close();
});

async function sceneOf(kind: string): Promise<Scene> {
  let address = postgres.url;
  let store: Store;
  if (kind === 'sqlite') {
    const path = tempDir('fleet.db');
    address = `sqlite:${path}`;
    store = await openSqliteStore(path, { ...PORTS, migrates: true });
    opened.push(store);
  } else {
    await postgres.client.query('truncate step_tracker, run_events, pod_health, archive_sink');
    store = await postgres.open();
  }
  await store.register({ ...birthOf('alder'), routes: [ROUTE] });
  const source = await openSinkSource(address, PORTS);
  opened.push(source);
  expect(await source.prepare(true)).toBe(true);
  const sink = new MemorySink();
  return { store, source, sink, forwarder: forwarderOf(source, sink) };
}

/** Of another fleet, for Postgres on the same server. */
async function otherOf(kind: string): Promise<Pick<Scene, 'store' | 'source'>> {
  const file = tempDir('other.db');
  const url = kind === 'sqlite' ? `sqlite:${file}` : await postgres.server.createDatabase();
  const store = await openStore(url, { ...PORTS, migrates: true });
  const source = await openSinkSource(url, PORTS);
  opened.push(store, source);
  expect(await source.prepare(true)).toBe(true);
  return { store, source };
}

function forwarderOf(source: SinkSource, sink: MemorySink, holder = 'h1'): Forwarder {
  const as = { name: 'default', target: 'memory', holder };
  return new Forwarder({ source, sink, as, clock: systemClock, leaseMs: 60_000 });
}

async function claimOne(store: Store): Promise<ClaimedTask> {
  const [claimed] = await store.claim(claimRequest(POD));
  return claimed!;
}

describe.each(['postgres', 'sqlite'])('%s', (kind) => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await sceneOf(kind);
  });

  test('everything is sent, in pages, and nothing is asked of the sink where nothing changes', async () => {
    const { store, forwarder, sink } = scene;
    const tasks = newTasks(450, { payload: '{"n":1}' });
    for (let from = 0; from < 450; from += 150) await store.enqueue(tasks.slice(from, from + 150));
    expect(await forwarder.round()).toMatchObject({ kind: 'done', rows: 450, events: 0 });
    expect([...sink.tasks.keys()].sort()).toEqual(tasks.map(({ id }) => id).sort());
    expect(sink.tasks.get(tasks[7]!.id!)).toMatchObject({
      machine: MACHINE,
      status: 'pending',
      payload: '{"n":1}',
      paused: false,
      finished_at: null,
    });
    const { puts } = sink;
    await forwarder.round();
    // What was written in the last moment may come again; after that there is silence.
    await forwarder.round();
    const again = sink.puts;
    expect(again - puts).toBeLessThanOrEqual(2);
    expect(sink.tasks.size).toBe(450);
  });

  test('a run is sent as it is by now: its row as the newest, its segments as they have grown', async () => {
    const { store, forwarder, sink } = scene;
    const [task] = newTasks(1);
    await store.enqueue([task!]);
    await forwarder.round();
    const claim = claimOf(await claimOne(store));
    await store.archive([{ ...segment(claim, 0, 2) }]);
    await forwarder.round();
    expect(sink.tasks.get(claim.task)).toMatchObject({ status: 'claimed', claimed_by: POD });
    expect([...sink.segments.values()]).toMatchObject([{ first_seq: 0, last_seq: 2 }]);
    await store.archive([{ ...segment(claim, 0, 5) }]);
    await store.settle(POD, [completed(claim, { tail: segment(claim, 6, 8) })]);
    await forwarder.round();
    expect(sink.tasks.get(claim.task)).toMatchObject({
      status: 'completed',
      result: '{"ok":true}',
      last_seq: 8,
    });
    const stored = await store.histories([{ task: claim.task, generation: 1 }]);
    expect([...sink.segments.values()]).toMatchObject(
      stored.map(({ firstSeq, lastSeq, prevHash, lastHash, events }) => ({
        ...{ first_seq: firstSeq, last_seq: lastSeq, prev_hash: prevHash, last_hash: lastHash },
        events,
      })),
    );
  });

  test('what a former owner flushes after the end is sent all the same', async () => {
    const { store, forwarder, sink } = scene;
    await store.enqueue(newTasks(1));
    const claim = claimOf(await claimOne(store));
    await store.archive([{ ...segment(claim, 0, 1) }]);
    await store.settle(POD, [completed(claim, { tail: segment(claim, 2, 3) })]);
    await forwarder.round();
    await store.archive([{ ...segment({ ...claim, epoch: claim.epoch - 1 }, 0, 4, 'late') }]);
    await forwarder.round();
    expect(sink.segments.size).toBe(3);
  });

  test('a round that was cut off goes on where the sink says, not at its beginning', async () => {
    const { store, source, forwarder, sink } = scene;
    for (let count = 0; count < 12; count += 1) {
      await store.enqueue(newTasks(400, { payload: JSON.stringify('x'.repeat(2_000)) }));
    }
    sink.after = () => {
      if (sink.tasks.size > 2_500) throw new Error('the answer is lost');
    };
    await expect(forwarder.round()).rejects.toThrow('the answer is lost');
    expect(sink.stored?.round).toMatchObject({ table: 'step_tracker', from: null });
    const before = sink.tasks.size;
    expect(before).toBeGreaterThan(400);
    sink.after = () => undefined;
    const other = forwarderOf(source, sink, 'h1');
    const answer = await other.round();
    expect(answer).toMatchObject({ kind: 'done' });
    expect(answer).toMatchObject({ isResumed: true });
    expect(sink.tasks.size).toBe(4_800);
    expect((answer as { rows: number }).rows).toBeLessThanOrEqual(4_800 - before + 2_000);
  });

  test('one process sends at a time, until its lease is over or it lets go', async () => {
    const { store, source, forwarder, sink } = scene;
    await store.enqueue(newTasks(1));
    await forwarder.round();
    const other = forwarderOf(source, sink, 'h2');
    expect(await other.round()).toEqual({ kind: 'held' });
    await forwarder.free();
    expect(await other.round()).toMatchObject({ kind: 'done' });
    expect(await forwarder.round()).toEqual({ kind: 'held' });
    expect(await source.sinks()).toMatchObject([{ name: 'default', holder: 'h2', isHeld: true }]);
  });

  test('retention waits for an archive elsewhere, whatever was sent to the one before', async () => {
    const { source } = scene;
    const sent = { name: 'default', target: 'm', holder: 'h1' };
    await source.hold(sent, 60_000);
    await source.confirm(sent, await source.look());
    await source.hold(sent, 60_000);
    expect(await source.sinks()).toMatchObject([{ target: 'm', behindMs: expect.any(Number) }]);
    await source.hold({ ...sent, target: 'elsewhere' }, 60_000);
    expect(await source.sinks()).toMatchObject([{ target: 'elsewhere', behindMs: null }]);
  });

  test('another store that goes on under the same name is sent as well, all of it', async () => {
    const { store, forwarder, sink } = scene;
    const other = await otherOf(kind);
    await other.store.enqueue(newTasks(3));
    await store.enqueue(newTasks(1));
    await pause(systemClock, 50);
    await forwarder.round();
    expect(await forwarderOf(other.source, sink).round()).toMatchObject({ kind: 'done', rows: 3 });
    expect(sink.tasks.size).toBe(4);
  });

  test('retention waits for what a sink has not sent, and goes on once it is forgotten', async () => {
    const { store, source, forwarder } = scene;
    const end = async () => {
      await store.enqueue([newTask({ keyMs: 0 })]);
      const claim = claimOf(await claimOne(store));
      await store.settle(POD, [completed(claim, { tail: segment(claim, 0, 1) })]);
    };
    await end();
    expect(await source.hold({ name: 'default', target: 'm', holder: 'h1' }, 60_000)).toBe(true);
    expect((await store.prune(-60_000, 10)).removed).toBe(0);
    expect(await store.hasOld(-60_000)).toBe(false);
    await forwarder.round();
    await source.confirm(
      { name: 'default', target: 'm', holder: 'h1' },
      { ...(await source.look()), since: kind === 'sqlite' ? String(Date.now() + 1_000) : 'now' },
    );
    expect((await store.prune(-60_000, 10)).removed).toBe(1);
    await end();
    const late = { ...(await source.look()), since: kind === 'sqlite' ? '1' : '-infinity' };
    await source.confirm({ name: 'default', target: 'm', holder: 'h1' }, late);
    // One that is sending would be back at once.
    expect(await source.forget('default')).toBe(false);
    await forwarder.free();
    expect(await source.forget('default')).toBe(true);
    expect((await store.prune(-60_000, 10)).removed).toBe(1);
    expect(await source.forget('default')).toBe(false);
  });
});

describe('postgres, by hand', () => {
  const insert = `insert into step_tracker (machine, payload) values ('${MACHINE}', $1) returning task_id`;

  test('what commits late is sent, whatever time it bears, and from a savepoint, too', async () => {
    const { source, sink, forwarder } = await sceneOf('postgres');
    const late = new pg.Client(postgres.url);
    await late.connect();
    try {
      await late.query('begin');
      // Begun, and nothing written: it has no number yet, and its rows will bear this time.
      await forwarder.round();
      await postgres.client.query(insert, ['1']);
      await forwarder.round();
      await late.query(insert, ['2']);
      await late.query('savepoint one');
      await late.query(insert, ['3']);
      await forwarder.round();
      await postgres.client.query(insert, ['4']);
      await forwarder.round();
      expect([...sink.tasks.values()].map(({ payload }) => payload).sort()).toEqual(['1', '4']);
      await late.query('commit');
    } finally {
      await late.end();
    }
    await forwarder.round();
    expect([...sink.tasks.values()].map(({ payload }) => payload).sort()).toEqual([
      ...['1', '2', '3', '4'],
    ]);
    // And nothing is kept back by transactions that are over.
    const { since, nowMs } = await source.look();
    expect(nowMs - Date.parse(since)).toBeLessThan(60_000);
  });

  test('a server that took over, or was restored, is read from the beginning', async () => {
    const { sink, source, forwarder } = await sceneOf('postgres');
    await postgres.client.query(insert, ['1']);
    await forwarder.round();
    sink.tasks.clear();
    sink.stored = { ...sink.stored!, last: { ...sink.stored!.last!, timeline: 'another' } };
    await forwarderOf(source, sink).round();
    expect(sink.tasks.size).toBe(1);
  });

  test('a role that may not see others is refused, with what to grant', async () => {
    await sceneOf('postgres');
    const { client } = postgres;
    await client.query(`create role blind login`);
    await client.query(`grant select, insert, update on all tables in schema public to blind`);
    const address = new URL(postgres.url);
    address.username = 'blind';
    const source = await openSinkSource(address.href, PORTS);
    opened.push(source);
    await expect(source.look()).rejects.toThrow('may not see when transactions of others began');
    await client.query('grant pg_read_all_stats to blind');
    expect(await source.look()).toMatchObject({ nowMs: expect.any(Number) });
  });
});
