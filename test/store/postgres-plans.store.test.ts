/**
 * How many rows the statements look at, as the server itself counts them. Statistics are kept as
 * they were before the rows in question came: that is when a planner goes wrong.
 */
import { beforeAll, expect, test } from 'vitest';
import { selectCensus } from '../../src/store/postgres/census.sql.ts';
import { letFollowersGo, letOverdueGo } from '../../src/store/postgres/followers.sql.ts';
import { archiveMoved, archiveSegments } from '../../src/store/postgres/run-events.sql.ts';
import { byIndexes } from '../../src/store/postgres/sql.ts';
import {
  claimKnown,
  claimTasks,
  countClaimable,
  wakeBlocked,
} from '../../src/store/postgres/step-tracker-claim.sql.ts';
import { selectUnsettled, settleTasks } from '../../src/store/postgres/step-tracker-settle.sql.ts';
import {
  clearKeys,
  deleteEnded,
  failHopelessTasks,
  selectHasOld,
  takeTasks,
} from '../../src/store/postgres/step-tracker-sweep.sql.ts';
import { watchTasks } from '../../src/store/postgres/watch.sql.ts';
import type { Store } from '../../src/store/store.ts';
import { HOUR, ids, newTasks, ROUTE } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const alder = podOf('alder');
const CROWD = 20_000;
const JOURNAL = 'journal-alder';
let store: Store;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** As the store sends them: see `Pool.byIndexes`. */
const BY_INDEXES = new Set([selectCensus, selectHasOld, deleteEnded, clearKeys]);

/** Rows looked at anywhere in the plan, or in one table, thrown away ones included. Nothing is kept. */
async function rowsLookedAt(
  text: string,
  values: readonly unknown[],
  table?: string,
): Promise<number> {
  await scene.client.query('begin');
  try {
    if (BY_INDEXES.has(text)) await scene.client.query(byIndexes);
    const { rows } = await scene.client.query(
      `explain (analyze, format json) ${text}`,
      values as unknown[],
    );
    const [{ Plan }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
    return lookedAt(Plan, table);
  } finally {
    await scene.client.query('rollback');
  }
}

function lookedAt(node: PlanNode, table: string | undefined): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const own = (node['Actual Rows'] + removed) * node['Actual Loops'];
  const isCounted = table === undefined || node['Relation Name'] === table;
  const below = (node.Plans ?? []).reduce((sum, child) => sum + lookedAt(child, table), 0);
  return (isCounted ? own : 0) + below;
}

/** As many rows as wanted, with these columns; ids sort before all others. */
function crowd(prefix: string, columns: string, values: string, count = CROWD) {
  return scene.client.query(
    `insert into step_tracker (task_id, machine, payload, ${columns})
     select '${prefix}' || lpad(n::text, 24, '0'), 'sample/one', '{}', ${values}
       from generate_series(1, ${count}) as n`,
  );
}

const claimValues = (count: number, fetch = count) => [
  alder,
  [ROUTE, 'sample/two@1'],
  JOURNAL,
  fetch,
  '{}',
  [],
  'token',
  1_000,
  null,
  count,
];

beforeAll(async () => {
  store = await scene.open();
  await store.register(birthOf('alder'));
  // The statistics know none of what comes.
  await scene.client.query('analyze');
  await crowd('0A', 'priority, pinned_to', `9, 'journal-elsewhere'`);
  await crowd(
    '0B',
    'priority, status, wait_for, run_at',
    `9, 'waiting', 'time', now() + interval '1 h'`,
  );
  await crowd('0C', 'priority, paused', `9, true`);
  await crowd('0D', 'priority, version', `9, 7`);
  await crowd('0E', 'priority, crashes', `9, 2`);
  await crowd('0F', 'status, claimed_by, claim_epoch', `'claimed', 'pod-birch', 1`);
  await crowd('0G', 'status, finished_at, outcome', `'completed', now(), 'completed'`);
  await store.enqueue(newTasks(1_000));
});

test.each(['skip-locked', 'cas'] as const)(
  'a claim (%s) looks at what it takes, and not at the crowd that it may not take',
  async (mode) => {
    const fetch = mode === 'cas' ? 400 : 100;
    const text = claimTasks[mode].ready;
    for (const statistics of ['of before', 'of now']) {
      if (statistics === 'of now') await scene.client.query('analyze step_tracker');
      expect(await rowsLookedAt(text, claimValues(100, fetch))).toBeLessThan(50 * fetch);
      expect(await rowsLookedAt(text, claimValues(100, fetch), 'step_tracker')).toBeLessThan(
        5 * fetch,
      );
      expect(await rowsLookedAt(text, claimValues(1, mode === 'cas' ? 4 : 1))).toBeLessThan(150);
    }
  },
);

/** As rows that have ended are, so long as an old transaction may want to see them: at the left edge. */
async function withEdge(act: (now: number) => Promise<void>): Promise<void> {
  await crowd('0T', 'run_at, queue', `now() - interval '1 h', 'edge'`);
  try {
    await act(Date.now() / 1_000);
  } finally {
    await scene.client.query(`delete from step_tracker where task_id like '0T%'`);
  }
}

test.each(['skip-locked', 'cas'] as const)(
  'a claim (%s) at known places looks at nothing before them, and at what is new between them',
  (mode) =>
    withEdge(async (now) => {
      const known = (queue: string, from: number) => [[ROUTE], [-1], [queue], [from]];
      const text = claimKnown[mode];
      const count = mode === 'cas' ? 40 : 10;
      const looked = async (values: unknown[][]) =>
        rowsLookedAt(text, [...claimValues(10, count), ...values], 'step_tracker');
      const claimed = async (values: unknown[][]) => {
        await scene.client.query('begin');
        const all = [...claimValues(10, count), ...values];
        const { rows } = await scene.client.query(text, all as unknown[]);
        await scene.client.query('rollback');
        return new Set(rows.map(({ queue, priority }) => `${queue} ${~priority}`));
      };
      for (const statistics of ['of before', 'of now']) {
        if (statistics === 'of now') await scene.client.query('analyze step_tracker');
        // Of those at the edge none is due after that, and what is behind it is found.
        expect(await looked(known('edge', now - 60))).toBeLessThan(20 * count);
        expect(await claimed(known('edge', now - 60))).toEqual(new Set(['default -1']));
        // A place that is not known, and one of a higher priority.
        await crowd('0U', 'queue', `'zebra'`, 1);
        await crowd('0V', 'queue, priority', `'new', 5`, 1);
        expect(await claimed(known('edge', now - 60))).toContain('new -6');
        const both = [
          [ROUTE, ROUTE],
          [-1, -1],
          ['default', 'edge'],
          [0, now - 60],
        ];
        expect(await claimed(both)).toEqual(new Set(['new -6', 'default -1', 'zebra -1']));
        // Places where nothing is left take nobody's, and what is closed hides nothing.
        const names = Array.from({ length: 2 * count }, (_, n) => `a${n}`);
        const stale = [names.map(() => ROUTE), names.map(() => -1), names, names.map(() => 0)];
        expect(await claimed(stale)).toContain('default -1');
        await crowd('0W', 'queue, priority', `'closed', 9`, 1);
        await scene.client.query(
          `insert into queue_limits (queue, paused) values ('closed', true)`,
        );
        expect(await claimed(known('edge', now - 60))).toContain('new -6');
        await scene.client.query(`delete from queue_limits`);
        await scene.client.query(`delete from step_tracker where task_id ~ '^0[UVW]'`);
      }
    }),
);

test('a claim that finds nothing looks at next to nothing', async () => {
  const values = [alder, ['sample/none@1'], JOURNAL, 100, '{}', [], 'token', 1_000, null, 100];
  for (const head of ['ready', 'suspect'] as const) {
    expect(await rowsLookedAt(claimTasks['skip-locked'][head], values)).toBeLessThan(20);
  }
});

test('suspects are found without looking at anything else', async () => {
  const text = claimTasks['skip-locked'].suspect;
  expect(await rowsLookedAt(text, claimValues(1))).toBeLessThan(50);
});

test('a sweep of 500 out of many looks at each of them a few times', async () => {
  const values = [podOf('sweeper'), 'pod-birch', 500, true, [], false, 0, 'e'];
  await scene.client.query('delete from pod_health where pod_id = $1', ['pod-birch']);
  const all = [...values, 'e', null];
  expect(await rowsLookedAt(takeTasks.pool.ofAll, all, 'step_tracker')).toBeLessThan(4 * 500);
  expect(await rowsLookedAt(takeTasks.pool.ofAll, all)).toBeLessThan(16 * 500);
});

test('a settle of 500 with statistics from before the claims looks at each of them a few times', async () => {
  // As they were when nothing was claimed: no owner is known, and none is expected.
  await scene.client.query('begin; delete from step_tracker where claimed_by is not null');
  await scene.client.query('analyze step_tracker; commit');
  await store.enqueue(newTasks(6_000));
  for (let round = 0; round < 7; round += 1) {
    expect(await store.claim(claimRequest(alder, { countMax: 1_000 }))).toHaveLength(1_000);
  }
  const claims = (await store.held(alder, '', 10_000)).slice(-500);
  const every = <Value>(value: Value) => claims.map(() => value);
  const tasks = ids(claims);
  const epochs = claims.map(({ epoch }) => epoch);
  const values = [
    ...[alder, tasks, every(1), epochs, every('completed'), every('completed'), every('{}')],
    ...[every(null), every(null), every(null), every(false), every(0), every(true)],
    ...[
      every(3),
      every('h'),
      every(1),
      epochs,
      every(0),
      every(3),
      every(''),
      every('h'),
      every('s'),
    ],
    ...[every('[1]'), every(2), 'error', null],
  ];
  expect(await rowsLookedAt(settleTasks, values)).toBeLessThan(20 * 500);
  expect(await rowsLookedAt(settleTasks, values, 'step_tracker')).toBeLessThan(4 * 500);
  expect(await rowsLookedAt(selectUnsettled, [alder, tasks, every(1), epochs])).toBeLessThan(
    5 * 500,
  );
});

test('looking for the hopeless costs as many hops as there are routes, not tasks', async () => {
  await store.announce([{ route: ROUTE, fingerprint: 'f', shape: 's' }]);
  const values = [60_000, 100, ['a', 'b', 'c']];
  expect(await rowsLookedAt(failHopelessTasks, values)).toBeLessThan(300);
});

test('the worklist of a sweep costs as many hops as there are owners', async () => {
  const { selectWorklist } = await import('../../src/store/postgres/pod-health.sql.ts');
  expect(await rowsLookedAt(selectWorklist, [15_000])).toBeLessThan(100);
});

test('an archive looks up the tasks it is about, ended or not, and nobody else', async () => {
  const open = ids(await store.claim(claimRequest(alder, { countMax: 250 })));
  const ended = Array.from({ length: 250 }, (_, n) => `0G${String(n + 1).padStart(24, '0')}`);
  const tasks = [...open, ...ended];
  const of = (value: unknown) => tasks.map(() => value);
  const values = [tasks, of(1), of(1), of(0), of(0), of(''), of('h'), of('s'), of('[]'), null];
  for (const analyse of ['select 1', 'analyze step_tracker']) {
    await scene.client.query(analyse);
    const looked = await rowsLookedAt(archiveSegments, values, 'step_tracker');
    expect(looked).toBeLessThanOrEqual(2 * tasks.length);
    const moved = await rowsLookedAt(
      archiveMoved,
      [...values.slice(0, 9), of(2), null],
      'step_tracker',
    );
    expect(moved).toBeLessThanOrEqual(4 * tasks.length);
  }
});

test('to wake what waits for a version looks at no sleeper that is far off', async () => {
  expect(await rowsLookedAt(wakeBlocked, [[ROUTE]], 'step_tracker')).toBeLessThan(300);
});

test('to count what is left of routes that nobody has looks at that, and not at the crowd', async () => {
  const left = 300;
  await crowd('0H', 'version', '8', left);
  for (const analyse of ['select 1', 'analyze step_tracker']) {
    await scene.client.query(analyse);
    const none = await rowsLookedAt(countClaimable, [['sample/none@1']], 'step_tracker');
    expect(none).toBeLessThan(20);
    const some = await rowsLookedAt(countClaimable, [['sample/one@8']], 'step_tracker');
    expect(some).toBeLessThan(4 * left);
  }
});

test('a census looks at no more of anything than its bound, whatever crowd there is', async () => {
  const bound = 100;
  await store.announce([{ route: ROUTE, fingerprint: 'f', shape: 's' }]);
  await crowd('0I', 'status, finished_at, outcome, error', `'failed', now(), 'aborted', '{}'`);
  await crowd('0J', 'priority', 'n % 7');
  await crowd('0K', 'status, wait_for, run_at', `'waiting', 'sleep', now() + interval '1 h'`);
  const routes = (await store.known()).length;
  expect(routes).toBeGreaterThan(0);
  for (const analyse of ['select 1', 'analyze']) {
    await scene.client.query(analyse);
    const looked = await rowsLookedAt(selectCensus, [bound, 15_000], 'step_tracker');
    // Three heads of a route, what is claimed, what is orphaned, what has failed; and hops.
    expect(looked).toBeLessThan((3 * routes + 3) * bound + 30 * routes + 300);
  }
});

test('a live view looks at what has changed or is in hand, and not at the crowd', async () => {
  // The index that lists of people have; made here where no migration has made it yet.
  await scene.client.query(
    'create index if not exists step_tracker_by_status on step_tracker (status, created_at, task_id)',
  );
  const old = `now() - interval '1 h'`;
  await crowd('0L', 'created_at, last_update', `${old}, ${old}`);
  await crowd(
    '0M',
    'created_at, last_update, status, finished_at, outcome',
    `${old}, ${old}, 'completed', ${old}, 'completed'`,
  );
  const changed = 20;
  await crowd('0N', 'created_at', `now() + interval '1 h'`, changed);
  const since = Date.now() + 1_800_000;
  const { rows } = await scene.client.query('select pg_current_snapshot()::text as snapshot');
  const seen = [rows[0].snapshot as string, since - 60_000];
  const claimedCount = async () => {
    const text = 'select count(*)::int as count from step_tracker where claimed_by is not null';
    return (await scene.client.query(text)).rows[0].count as number;
  };
  for (const analyse of ['select 1', 'analyze step_tracker']) {
    await scene.client.query(analyse);
    const looked = await rowsLookedAt(watchTasks, [[], [], since, 100, ...seen], 'step_tracker');
    // What is claimed is looked through: as many as pods have slots.
    expect(looked - (await claimedCount())).toBeLessThan(2_000);
    const idle = await rowsLookedAt(
      watchTasks,
      [['0N1'], [], null, 100, null, null],
      'step_tracker',
    );
    expect(idle).toBeLessThan(100);
  }
});

test('retention looks at what may go, and not at what is young or keeps its key', async () => {
  const ended = (ago: string) => `'completed', now() - interval '${ago}', 'completed'`;
  const columns = 'status, finished_at, outcome';
  await crowd(
    '0R',
    `${columns}, key, key_until`,
    `${ended('3 h')}, n::text, now() + interval '1 h'`,
  );
  await crowd('0S', columns, ended('3 h'), 500);
  // Others wait for the ends of runs that have nothing to do with these.
  await crowd(
    '0X',
    'status, wait_for, follows, follows_on',
    `'waiting', 'run', 'none' || n, 'end'`,
  );
  for (const statistics of ['of before', 'of now']) {
    if (statistics === 'of now') await scene.client.query('analyze step_tracker');
    expect(await rowsLookedAt(selectHasOld, [2 * HOUR], 'step_tracker')).toBeLessThan(2_000);
    expect(await rowsLookedAt(selectHasOld, [4 * HOUR], 'step_tracker')).toBeLessThan(10);
    expect(await rowsLookedAt(deleteEnded, [2 * HOUR, 100])).toBeLessThan(20 * 100);
    expect(await rowsLookedAt(clearKeys, [100])).toBeLessThan(10);
    const go = (text: string, ...values: unknown[]) => rowsLookedAt(text, values, 'step_tracker');
    expect(await go(letFollowersGo, ['none7', 'none8'], 10, 'e')).toBeLessThan(20);
    expect(await go(letOverdueGo, '', '', 100, 'e')).toBeLessThan(6 * 100);
  }
});
