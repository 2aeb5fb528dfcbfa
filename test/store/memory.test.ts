/** The store in memory keeps every promise of a store, and is the same every time it is asked. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { StoreUnreachableError } from '../../src/store/errors.ts';
import { MemoryStore, type Way } from '../../src/store/memory/memory-store.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import type { PodId, TaskStatus, WaitFor } from '../../src/store/words.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { describeStore } from './conformance.ts';
import { completed, newTask, newTasks } from './factories.ts';
import { birthOf, claimRequest, type PlainRow, podOf } from './harness.ts';

const clock = new FakeClock();
let tables = freshTables();

function freshTables(): MemoryTables {
  return new MemoryTables({ clock, random: seededRandom(1) });
}

function insertPlain(row: PlainRow): string {
  const { machine, task_id, parent_id, pinned_to, claimed_by, claim_epoch, ...rest } = row;
  const { runAfterMs, deadlineAfterMs, status, wait_for, control, updatedAt, ...more } = rest;
  const { retry_count, key_ms, serial_key, ...same } = more;
  const { taskId } = tables.insert({
    machine,
    ...same,
    ...(task_id === undefined ? {} : { taskId: task_id as RunId }),
    ...(parent_id === undefined ? {} : { parentId: parent_id }),
    ...(pinned_to === undefined ? {} : { pinnedTo: pinned_to }),
    ...(claimed_by === undefined ? {} : { claimedBy: claimed_by as PodId }),
    ...(claim_epoch === undefined ? {} : { claimEpoch: claim_epoch }),
    ...(wait_for === undefined ? {} : { waitFor: wait_for as WaitFor }),
    ...(control === undefined ? {} : { control: control as 'cancel' }),
    ...(status === undefined ? {} : { status: status as TaskStatus }),
    ...(retry_count === undefined ? {} : { retryCount: retry_count }),
    ...(updatedAt === undefined ? {} : { lastUpdate: updatedAt }),
    ...(serial_key === undefined ? {} : { serialKey: serial_key }),
    ...(key_ms === undefined ? {} : { keyMs: key_ms }),
    ...(deadlineAfterMs === undefined ? {} : { deadlineAt: clock.now() + deadlineAfterMs }),
    ...(runAfterMs === undefined ? {} : { runAt: clock.now() + runAfterMs }),
  });
  return taskId;
}

function underscored(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

describeStore('memory', {
  open: async () => new MemoryStore(tables),
  reset: async () => {
    // In place, since the handles that are open go on.
    for (const table of [tables.pods, tables.tasks, tables.events, tables.registry]) table.clear();
    for (const table of [tables.audit, tables.terms, tables.bulks, tables.schedules]) table.clear();
    for (const table of [tables.flow.queues, tables.flow.machines]) table.clear();
    tables.throttles.clear();
  },
  pass: async (ms) => clock.pass(ms),
  now: () => clock.now(),
  insertPlain: async (row) => insertPlain(row),
  insertAudit: async ({ task_id: taskId, ...row }) => {
    tables.audit.set(row.id, { detail: undefined, taskId, ...row });
  },
  rows: async (table) => {
    const { pods, tasks, events, registry, audit } = tables;
    const all = { pod_health: pods, step_tracker: tasks, run_events: events, audit_log: audit };
    return [...{ ...all, machine_registry: registry }[table].values()].map(underscored);
  },
  poison: '\u0000',
  hasHints: true,
  sequenceCount: 100,
  crowdCount: 40,
});

test('the same calls in the same order leave the same tables, to the last due time', async () => {
  const first = await playOnce();
  clock.setWall(first.startedAt);
  expect((await playOnce()).rows).toEqual(first.rows);
});

async function playOnce() {
  tables = freshTables();
  const startedAt = clock.now();
  const store = new MemoryStore(tables);
  await store.register(birthOf('alder'));
  const tasks = Array.from({ length: 9 }, (_, index) =>
    newTask({ id: `01TASK${index}` as RunId, priority: index % 3 }),
  );
  await store.enqueue(tasks);
  insertPlain({ machine: 'sample/one' });
  const claims = await store.claim(claimRequest(podOf('alder'), { countMax: 6 }));
  await store.settle(podOf('alder'), [completed(claims[0]!)]);
  clock.pass(60_000);
  await store.fence(podOf('alder'), podOf('birch'), { silentMs: 15_000 });
  const crew = { from: podOf('alder'), by: podOf('birch') };
  await store.take({ ...crew, to: 'pool', countMax: 3, crashed: 'all', spreadMs: 60_000 });
  return { startedAt, rows: await store.list({ countMax: 100 }) };
}

test('a way can lose a call, or its answer, and the tables know only what arrived', async () => {
  tables = freshTables();
  let fate: 'arrives' | 'lost' | 'unanswered' = 'arrives';
  const verbs: string[] = [];
  const way: Way = async (verb, act) => {
    verbs.push(verb);
    if (fate === 'lost') throw new StoreUnreachableError('lost on the way');
    const answer = act();
    if (fate === 'unanswered') throw new StoreUnreachableError('lost on the way back');
    return answer;
  };
  const store = new MemoryStore(tables, { way });
  const [a, b] = newTasks(2);
  fate = 'lost';
  await expect(store.enqueue([a!])).rejects.toThrow(StoreUnreachableError);
  fate = 'unanswered';
  await expect(store.enqueue([b!])).rejects.toThrow(StoreUnreachableError);
  fate = 'arrives';
  expect(await store.enqueue([a!, b!])).toMatchObject([{ isNew: true }, { isNew: false }]);
  expect(verbs).toEqual(['enqueue', 'enqueue', 'enqueue']);
});

test('what a caller does to its arguments or answers does not reach the tables', async () => {
  tables = freshTables();
  const store = new MemoryStore(tables);
  const report = { load: [1] };
  const routes = ['sample/one@1'];
  await store.register({ ...birthOf('alder'), report, routes });
  report.load.push(2);
  routes.push('sample/two@1');
  const [shown] = await store.pods();
  (shown!.report as { load: number[] }).load.push(3);
  expect(await store.pods()).toMatchObject([{ report: { load: [1] }, routes: ['sample/one@1'] }]);
});

test('a handle that was closed answers no more; the others do', async () => {
  tables = freshTables();
  const [closed, open] = [new MemoryStore(tables), new MemoryStore(tables)];
  await closed.close();
  await closed.close();
  await expect(closed.pods()).rejects.toThrow(StoreUnreachableError);
  expect(await open.pods()).toEqual([]);
});
