/** Transactions in which a step persists: fenced by the claim, and settled by looking where in doubt. */
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Persisted, StoreTransaction } from '../../src/store/persisting.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { type CommitFault, CommitProxy } from '../support/commit-proxy.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { birthOf, claimOf, claimRequest, newTask, podOf, segment } from './factories.ts';
import { options, usePostgres } from './postgres-harness.ts';
import { openMigrated, PORTS, prompt } from './sqlite-harness.ts';

const scene = usePostgres();
const newDir = useTempDirs();

interface Place {
  open(): Promise<Store>;
  /** Statements by hand, beside the store. */
  rows(text: string): Promise<Record<string, unknown>[]>;
  readonly insert: string;
}

const create = 'create table if not exists ledger (id text)';

function postgresPlace(): Place {
  return {
    open: () => openPostgresStore(scene.url, options),
    rows: async (text) => (await scene.client.query(text)).rows,
    insert: 'insert into ledger (id) values ($1)',
  };
}

function sqlitePlace(): Place {
  const file = newDir('fleet.db');
  return {
    open: async () => {
      await (await openMigrated(file)).close();
      return openSqliteStore(file, PORTS);
    },
    rows: async (text) =>
      prompt(file, (database) => {
        const statement = database.prepare(text);
        if (statement.reader) return statement.all() as Record<string, unknown>[];
        statement.run();
        return [];
      }),
    insert: 'insert into ledger (id) values (?)',
  };
}

function endOf(claim: ClaimedTask): Persisted {
  const tail = segment(claim, 0, 2);
  const { lastSeq, lastHash } = tail;
  const counts = { retriesAdd: 0, hasCompletedStep: true, version: undefined };
  const end = {
    to: 'completed',
    outcome: 'completed',
    result: '{"n":1}',
    error: undefined,
  } as const;
  return { ...claimOf(claim), ...counts, ...end, tail, lastSeq, lastHash };
}

function keptOf(claim: ClaimedTask): Persisted {
  const tail = segment(claim, 0, 2);
  const { lastSeq, lastHash } = tail;
  return { ...claimOf(claim), to: 'claimed', tail, lastSeq, lastHash };
}

for (const [name, make] of [
  ['Postgres', postgresPlace],
  ['SQLite', sqlitePlace],
] as const) {
  describe(name, () => {
    let place: Place;
    let store: Store;
    let pod: PodId;
    beforeAll(async () => {
      place = make();
      store = await place.open();
      await place.rows(create);
    });
    afterAll(() => store.close());
    beforeEach(async () => {
      for (const table of ['run_events', 'step_tracker', 'pod_health', 'ledger']) {
        await place.rows(`delete from ${table}`);
      }
      pod = podOf('alder');
      await store.register({ ...birthOf('alder'), pod });
    });

    const claimNew = async (): Promise<ClaimedTask> => {
      await store.enqueue([newTask()]);
      const [claimed] = await store.claim(claimRequest(pod));
      return claimed!;
    };
    const written = async (): Promise<[StoreTransaction, ClaimedTask]> => {
      const claim = await claimNew();
      const tx = await store.begin();
      expect(await tx.query(place.insert, [claim.task])).toEqual([]);
      return [tx, claim];
    };
    const ledger = async () => (await place.rows('select id from ledger')).map(({ id }) => id);
    const segments = () => place.rows('select task_id, last_seq from run_events');

    test('what was written, the end of the task and its records commit together', async () => {
      const [tx, claim] = await written();
      expect(await ledger()).toEqual([]);
      expect(await tx.commit(pod, endOf(claim))).toBe('stood');
      expect(await ledger()).toEqual([claim.task]);
      const [row] = await store.find([claim.task]);
      expect(row).toMatchObject({ status: 'completed', result: '{"n":1}' });
      expect(await segments()).toMatchObject([{ task_id: claim.task, last_seq: 2 }]);
      expect(await store.settled(pod, endOf(claim))).toBe('stood');
      expect(await store.violations()).toEqual([]);
    });

    test('a run that goes on keeps its claim, and has its records there', async () => {
      const [tx, claim] = await written();
      expect(await store.settled(pod, keptOf(claim))).toBe('open');
      expect(await tx.commit(pod, keptOf(claim))).toBe('stood');
      expect(await ledger()).toEqual([claim.task]);
      expect(await store.find([claim.task])).toMatchObject([{ status: 'claimed', claimedBy: pod }]);
      expect(await segments()).toMatchObject([{ task_id: claim.task, last_seq: 2 }]);
      expect(await store.settled(pod, keptOf(claim))).toBe('stood');
    });

    test('with its end it gives its turn on', async () => {
      const tasks = [newTask({ serialKey: 'ada' }), newTask({ serialKey: 'ada' })];
      await store.enqueue(tasks);
      const [claim] = await store.claim(claimRequest(pod));
      // Whoever claims in vain marks what waits, and looks for it by itself no more for a while.
      expect(await store.claim(claimRequest(pod))).toEqual([]);
      const tx = await store.begin();
      await tx.query(place.insert, [claim!.task]);
      expect(await tx.commit(pod, endOf(claim!))).toBe('stood');
      const [next] = await store.claim(claimRequest(pod));
      expect([claim!.task, next?.task]).toEqual(tasks.map(({ id }) => id));
    });

    test('nothing is there that was not committed', async () => {
      const [tx, claim] = await written();
      await tx.rollback();
      await tx.rollback();
      expect(await ledger()).toEqual([]);
      expect(await store.settled(pod, endOf(claim))).toBe('open');
      await expect(tx.query(place.insert, ['late'])).rejects.toMatchObject({
        code: 'FLEETQ_TRANSACTION',
      });
      await expect(tx.commit(pod, endOf(claim))).rejects.toMatchObject({
        code: 'FLEETQ_TRANSACTION',
      });
    });

    for (const [what, of] of [
      ['ends', endOf],
      ['goes on', keptOf],
    ] as const) {
      test(`whose claim was taken writes nothing, though its run ${what}`, async () => {
        const claim = await claimNew();
        await store.fence(pod, podOf('sweeper'), 'proved');
        const tx = await store.begin();
        await tx.query(place.insert, [claim.task]);
        // Dead, and its task is still its own: the pod's fence alone keeps it from writing.
        expect(await tx.commit(pod, of(claim))).toBe('lost');
        expect(await ledger()).toEqual([]);

        const other = podOf('birch');
        await store.register({ ...birthOf('birch'), pod: other });
        const taking = { from: pod, by: other, to: 'taker', countMax: 9, crashed: [] } as const;
        expect(await store.take({ ...taking, spreadMs: 0 })).toHaveLength(1);
        const late = await store.begin();
        await late.query(place.insert, [claim.task]);
        expect(await late.commit(other, of(claim))).toBe('lost');
        expect(await store.settled(pod, of(claim))).toBe('lost');
        expect([await ledger(), await segments()]).toEqual([[], []]);
      });
    }

    test('an author cannot end the transaction, nor change more than its tables', async () => {
      const [tx, claim] = await written();
      for (const text of [
        'commit',
        ' -- now\n COMMIT',
        '/* x */ end',
        'rollback',
        'begin',
        'set search_path to x',
      ]) {
        await expect(tx.query(text), text).rejects.toThrow('persist must not send');
      }
      await expect(tx.query('select 1; commit')).rejects.toThrow();
      await tx.rollback();
      expect(await ledger()).toEqual([]);
      expect(await store.settled(pod, endOf(claim))).toBe('open');
    });
  });
}

describe('Postgres alone', () => {
  let fault: CommitFault | undefined;
  let proxy: CommitProxy;
  let store: Store;
  let pod: PodId;
  beforeAll(async () => {
    const { host, port } = scene.server;
    proxy = new CommitProxy({ host, port, faultOf: () => fault, lateMs: 500 });
    await proxy.start();
    store = await openPostgresStore(proxy.through(scene.url), options);
    await scene.client.query(create);
    pod = podOf('cedar');
    await store.register({ ...birthOf('cedar'), pod });
  });
  afterAll(async () => {
    await store.close();
    proxy.stop();
  });
  beforeEach(() => scene.client.query('delete from run_events; delete from step_tracker'));

  const begun = async (): Promise<[StoreTransaction, ClaimedTask]> => {
    await store.enqueue([newTask()]);
    const [claim] = await store.claim(claimRequest(pod));
    const tx = await store.begin();
    await tx.query('insert into ledger (id) values ($1)', [claim!.task]);
    return [tx, claim!];
  };
  const isWritten = async (id: string) =>
    (await scene.client.query('select 1 from ledger where id = $1', [id])).rows.length > 0;

  for (const of of [endOf, keptOf]) {
    for (const [how, found] of [
      ['answerLost', 'stood'],
      ['commitLost', 'open'],
      ['late', 'stood'],
    ] as const) {
      test(`a commit in doubt is settled by looking: ${how}, ${of.name}`, async () => {
        const [tx, claim] = await begun();
        fault = how;
        try {
          expect(await tx.commit(pod, of(claim))).toBe('doubt');
        } finally {
          fault = undefined;
        }
        // A late one is still on its way: whoever looks waits until it cannot come any more.
        expect(await store.settled(pod, of(claim))).toBe(found);
        expect(await isWritten(claim.task)).toBe(found === 'stood');
      });
    }
  }

  test('a row that somebody has locked is waited for', async () => {
    const [tx, claim] = await begun();
    const rival = await scene.connect();
    await rival.query('begin');
    await rival.query('select 1 from step_tracker for update');
    const committing = tx.commit(pod, endOf(claim));
    await rival.query('select pg_sleep(0.1)');
    await rival.query('commit');
    expect(await committing).toBe('stood');
  });

  test('what a swallowed error left is not committed, and one found at the end is told', async () => {
    const [tx, claim] = await begun();
    await expect(tx.query('insert into nowhere values (1)')).rejects.toMatchObject({
      code: '42P01',
    });
    await expect(tx.commit(pod, endOf(claim))).rejects.toMatchObject({ code: 'FLEETQ_STORE_BUSY' });
    await scene.client.query(
      'create table once (id int unique deferrable initially deferred); insert into once values (1)',
    );
    const again = await store.begin();
    await again.query('insert into once (id) values ($1)', [1]);
    await expect(again.commit(pod, endOf(claim))).rejects.toMatchObject({ code: '23505' });
    expect(await store.settled(pod, endOf(claim))).toBe('open');
  });
});

test('SQLite takes the file back from an author who takes time', async () => {
  const file = newDir('fleet.db');
  const store = await openMigrated(file);
  const database = new Database(file);
  database.exec(create);
  const tx = await store.begin();
  await tx.query('insert into ledger (id) values (?)', ['slow']);
  await expect
    .poll(() => tx.query('select 1 as one').catch((error: unknown) => error), { timeout: 90_000 })
    .toMatchObject({
      message: 'persist had the file to itself for more than 2000 ms',
      // A process that was stopped for a while is late too, and its run is not to end by that.
      verdict: 'retry',
    });
  expect(database.prepare('select * from ledger').all()).toEqual([]);
  database.close();
  await store.close();
});
