/** How SQLite carries statements out: by the index made for each, without sorting, at any size. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseFilter } from '../../src/query/index.ts';
import { questionOf } from '../../src/store/reading/question.ts';
import * as census from '../../src/store/sqlite/census.sql.ts';
import * as claims from '../../src/store/sqlite/claims.sql.ts';
import * as housekeeping from '../../src/store/sqlite/housekeeping.sql.ts';
import * as pods from '../../src/store/sqlite/pods.sql.ts';
import * as reads from '../../src/store/sqlite/reader.sql.ts';
import * as tasks from '../../src/store/sqlite/tasks.sql.ts';
import * as turns from '../../src/store/sqlite/turns.sql.ts';
import * as watch from '../../src/store/sqlite/watch.sql.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { HOUR, ids, newId } from './factories.ts';
import { birthOf, claimRequest } from './harness.ts';
import { openMigrated, prompt } from './sqlite-harness.ts';

const newDir = useTempDirs();

const WANTED: readonly (readonly [name: string, sql: string, index: string])[] = [
  ['selectReady', claims.selectReady, 'step_tracker_ready'],
  ['selectReadyLevel', claims.selectReadyLevel, 'step_tracker_ready'],
  ['selectFirstQueue', claims.selectFirstQueue, 'step_tracker_ready'],
  ['selectNextQueue', claims.selectNextQueue, 'step_tracker_ready'],
  ['selectDue', claims.selectDue, 'step_tracker_due'],
  ['selectPinned', claims.selectPinned, 'step_tracker_pinned'],
  ['selectSuspects', claims.selectSuspects, 'step_tracker_suspect'],
  ['selectHeld', claims.selectHeld, 'step_tracker_owner'],
  ['selectOfPod', claims.selectOfPod, 'step_tracker_owner'],
  ['countClaims', pods.countClaims, 'step_tracker_owner'],
  ['selectControls', pods.selectControls, 'step_tracker_control'],
  ['selectOwnerless', pods.selectOwnerless, 'step_tracker_owner'],
  ['selectByKey', tasks.selectByKey, 'step_tracker_key'],
  ['selectPage', tasks.selectPage, 'step_tracker_newest'],
  ['selectPageOfDeadLetters', tasks.selectPageOfDeadLetters, 'step_tracker_failed'],
  ...['step_tracker_ready', 'step_tracker_due', 'step_tracker_suspect'].map(
    (index) => ['countClaimable', tasks.countClaimable, index] as const,
  ),
  ...['step_tracker_ready', 'step_tracker_due', 'step_tracker_suspect'].map(
    (index) => ['selectRouteCensus', census.selectRouteCensus, index] as const,
  ),
  ['countWaits', census.countWaits, 'step_tracker_due'],
  ['countClaimed', census.countClaimed, 'step_tracker_owner'],
  ['countDeadLetters', census.countDeadLetters, 'step_tracker_failed'],
  ['selectOrphans', census.selectOrphans, 'step_tracker_owner'],
  ['selectMalformed', housekeeping.selectMalformed, 'step_tracker_malformed'],
  ['selectPastDeadline', housekeeping.selectPastDeadline, 'step_tracker_deadline'],
  ['selectOfUnknownMachines', housekeeping.selectOfUnknownMachines, 'step_tracker_machine'],
  ['selectPrunable', housekeeping.selectPrunable, 'step_tracker_removable'],
  ['selectArrivals', turns.selectArrivals, 'step_tracker_arrival'],
  ['selectHolder', turns.selectHolder, 'step_tracker_serial'],
  ['giveTurn', turns.giveTurn, 'step_tracker_turn'],
  ['watchClaimed', watch.watchClaimed, 'step_tracker_owner'],
  ['watchEnded', watch.watchEnded, 'step_tracker_finished'],
  ['watchMade', watch.watchMade, 'step_tracker_newest'],
  ['watchActed', watch.watchActed, 'audit_log_newest'],
  ['expireKeys', housekeeping.expireKeys, 'step_tracker_key_until'],
];

test('every statement that looks for tasks uses the index that was made for it', async () => {
  const file = join(newDir(), 'store.db');
  await (await openMigrated(file)).close();
  prompt(file, (database) => {
    for (const [name, sql, index] of WANTED) {
      const bound = sql.replaceAll(/@\w+/g, 'null');
      const steps = database.prepare(`explain query plan ${bound}`).all() as { detail: string }[];
      const plan = steps.map(({ detail }) => detail).join('\n');
      expect(plan, name).toContain(index);
      // Only pods and machines, of which there are few, may be read through.
      expect(plan, name).not.toMatch(/SCAN (step_tracker|task)(?! USING (COVERING )?INDEX)/);
      expect(plan, name).not.toMatch(/TEMP B-TREE FOR (LAST|ORDER)/);
    }
  });
});

const READ: readonly (readonly [filter: string, index: string])[] = [
  ['', 'step_tracker_newest'],
  ['queue:slow', 'step_tracker_newest'],
  ['"some text"', 'step_tracker_newest'],
  ['created:>1h created:<2h', 'step_tracker_newest'],
  ['status:failed', 'step_tracker_by_status'],
  ['status:failed machine:sample/one created:>1h', 'step_tracker_by_status'],
  ['is:unfinished', 'step_tracker_by_status'],
  ['is:blocked', 'step_tracker_by_status'],
  ['-status:completed', 'step_tracker_by_status'],
];

/** What a reader asks; only the few rows that it looks at may be sorted. */
test('every question of a reader walks an index, in its order, and no further than it is told', async () => {
  const file = join(newDir(), 'store.db');
  await (await openMigrated(file)).close();
  prompt(file, (database) => {
    const planOf = (text: string, values: object = {}) => {
      const steps = database.prepare(`explain query plan ${text}`).all(values);
      return (steps as { detail: string }[]).map(({ detail }) => detail);
    };
    for (const [text, index] of READ) {
      const asked = { filter: parseFilter(text), nowMs: 0, liveRoutes: ['sample/one@9'] };
      const after = { at: '1000', id: 'x' };
      const reach = { question: questionOf(asked), after, rowsMax: 100 };
      const parts = { fromMs: 0, widthMs: 1 };
      for (const { text: sql, values } of [
        reads.selectSlice(reach, 10),
        reads.selectTally(reach, parts),
      ]) {
        const plan = planOf(sql, values);
        const looked = plan.slice(
          0,
          plan.findIndex((step) => /SCAN looked|SCAN told/.test(step)),
        );
        expect(looked.join('\n'), text).toMatch(
          new RegExp(`USING (COVERING )?INDEX ${index} .*created_at>\\? AND created_at<\\?`),
        );
        expect(plan.join('\n'), text).not.toMatch(/SCAN (step_tracker|task)/);
        expect(looked.join('\n'), text).not.toMatch(/TEMP B-TREE/);
      }
    }
    const gathered: [string, object, string][] = [
      [reads.gatherIds, { words: '[]', spans: '[]', count: 1 }, 'sqlite_autoindex_step_tracker_1'],
      [reads.gatherHeld, { words: '[]', spans: '[]', count: 1 }, 'step_tracker_owner'],
      [reads.gatherKeys, { machines: '[]', keys: '[]', count: 1 }, 'step_tracker_key'],
      [reads.selectKeyMachines, { count: 1 }, 'step_tracker_key'],
    ];
    for (const [text, values, index] of gathered) {
      const plan = planOf(text, values).join('\n');
      expect(plan).toContain(index);
      expect(plan).not.toMatch(/SCAN (step_tracker|task)(?! USING (COVERING )?INDEX)/);
    }
    const audit = { task: null, who: null, what: null, at: 0, id: '', rows: 1, count: 1 };
    for (const [text, index] of [
      [reads.selectAudit, 'audit_log_newest'],
      [reads.selectAuditOfTask, 'audit_log_of_task'],
    ] as const) {
      expect(planOf(text, audit).join('\n')).toContain(index);
    }
  });
});

test('rows of other hosts, of other routes, asleep or paused do not slow a claim', async () => {
  const file = join(newDir(), 'store.db');
  const store = await openMigrated(file);
  const pod = birthOf('alder').pod;
  await store.register(birthOf('alder'));
  prompt(file, (database) => {
    const insert = database.prepare(`
      with recursive n (i) as (select 1 union all select i + 1 from n where i < @count)
      insert into step_tracker (machine, priority, pinned_to, status, wait_for, run_at, paused)
      select @machine, 9, @pinned_to, @status, @wait_for, @run_at, @paused from n`);
    const base = { machine: 'sample/one', pinned_to: null, status: 'pending', wait_for: null };
    const row = { ...base, run_at: 1, paused: 0, count: 25_000 };
    const later = Date.now() + HOUR;
    insert.run({ ...row, pinned_to: 'journal-elsewhere' });
    insert.run({ ...row, machine: 'sample/other' });
    insert.run({ ...row, status: 'waiting', wait_for: 'sleep', run_at: later });
    insert.run({ ...row, paused: 1 });
  });
  const id = newId();
  prompt(file, (database) =>
    database
      .prepare(`insert into step_tracker (task_id, machine, priority) values (?, 'sample/one', 0)`)
      .run(id),
  );
  const claim = () => store.claim(claimRequest(pod, { countMax: 50 }));
  expect(ids(await claim())).toEqual([id]);
  const claimMs: number[] = [];
  const scanMs: number[] = [];
  const scan = `select count(result) from step_tracker not indexed where machine = 'sample/other'`;
  for (let count = 0; count < 8; count++) {
    const before = performance.now();
    expect(await claim()).toEqual([]);
    const between = performance.now();
    prompt(file, (database) => database.prepare(scan).get());
    claimMs.push(between - before);
    scanMs.push(performance.now() - between);
  }
  // A busy machine has a quiet moment for each.
  expect(Math.min(...claimMs)).toBeLessThan(Math.min(...scanMs) / 12);
  await store.close();
});
