/**
 * What went wrong in the durable state machine library that FleetQ descends from: one test each, so
 * that it cannot go wrong here. The numbers are those of its list of defects; 17 and on are in
 * ancestors-recovery.test.ts.
 *
 * Not here yet, since nothing of it is built: the child runs of 9.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { abort, defineMachine, handoff } from '../../src/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { anyInput, gate, never, useFleets } from '../support/fleets.ts';

const { open, afterCrash, hear, newDir } = useFleets();
const head = { version: 1, input: anyInput } as const;
const quick = defineMachine({
  ...head,
  name: 'quick',
  check: 'none',
  work: ({ input }) => input.id ?? 'made',
});
const failing = defineMachine({
  ...head,
  name: 'failing',
  check: 'none',
  work: (): string => abort('no such thing', { kind: 'user' }),
});

// 1
test('what one resumed run has completed is not taken for what the next one has', async () => {
  const calls: string[] = [];
  const machine = defineMachine({
    ...head,
    name: 'two-steps',
    steps: (line) =>
      line
        .step('a', { check: 'none', work: ({ input }) => void calls.push(`a ${input.id}`) })
        .step('b', {
          check: 'none',
          work: ({ input, fencingToken }): Promise<null> | null => {
            if (fencingToken === 1) return never();
            calls.push(`b ${input.id}`);
            return null;
          },
        }),
  });
  const first = await open({ machines: [machine], slots: 1 });
  await first.fleet.startLocal(machine, { id: 'ahead' });
  await first.fleet.startLocal(machine, { id: 'behind' });
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(calls.sort()).toEqual(['a ahead', 'a behind', 'b ahead', 'b behind']);
});

// 2, 3
test('a failed run whose records were pruned is still found, by its id, and still failed', async () => {
  const first = await open({ machines: [failing], retention: '1h' });
  const { id } = await first.fleet.startLocal(failing, {});
  await first.clock.advance(2 * 3_600_000);
  const { fleet } = await afterCrash(first, { machines: [failing], retention: '1h' });
  expect(fleet.events(id)).toEqual([]);
  await expect(fleet.runById(id).result()).rejects.toMatchObject({
    outcome: 'aborted',
    kind: 'user',
  });
});

// 4
test('a run that cannot be resumed strands none of those after it', async () => {
  const other = defineMachine({
    ...head,
    name: 'gone',
    check: 'none',
    work: () => never() as Promise<string>,
  });
  const waits = defineMachine({
    ...head,
    name: 'waits',
    check: 'none',
    work: ({ fencingToken }): Promise<string> | string => (fencingToken === 1 ? never() : 'made'),
  });
  const first = await open({ machines: [other, waits] });
  const bad = await first.fleet.startLocal(other, {});
  const good = await first.fleet.startLocal(waits, {});
  await first.clock.settle();
  const { fleet, clock } = await afterCrash(first, { machines: [waits] });
  await clock.settle();
  expect(fleet.describe(bad.id).status).toBe('blocked');
  expect(fleet.describe(good.id).output).toBe('made');
});

// 5
test('after a deploy, runs that were queued are still queued', async () => {
  const machine = defineMachine({
    ...head,
    name: 'held',
    check: 'none',
    work: () => never() as Promise<string>,
  });
  const first = await open({ machines: [machine], slots: 2 });
  for (let index = 0; index < 20; index++) await first.fleet.startLocal(machine, {});
  const draining = first.fleet.drain({ budget: 0 });
  await first.clock.advance(0);
  await draining;
  const { fleet, clock } = await open({
    machines: [machine],
    slots: 2,
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await clock.settle();
  expect(fleet.status).toMatchObject({ busy: 2, queued: 18 });
});

// 6
test('what was said for one start is not inherited by the next', async () => {
  const { fleet } = await open({ machines: [quick] });
  const [keyed, plain] = await Promise.all([
    fleet.startLocal(quick, {}, { key: 'mine' }),
    fleet.startLocal(quick, {}),
  ]);
  expect(fleet.describe(keyed.id).key).toBe('mine');
  expect(fleet.describe(plain.id).key).toBeUndefined();
  expect(Object.isFrozen(quick)).toBe(true);
});

// 7
test('starting one machine does not disturb those who wait for another of the same key', async () => {
  const answer = gate<string>();
  const slow = defineMachine({ ...head, name: 'slow', check: 'none', work: () => answer.opened });
  const { fleet } = await open({ machines: [slow, quick] });
  const waiting = (await fleet.startLocal(slow, {}, { key: 'same' })).result();
  await (await fleet.startLocal(quick, {}, { key: 'same' })).result();
  answer.open('in its own time');
  expect(await waiting).toBe('in its own time');
});

// 8, 11
test('a failed run is counted as failed, under the one name that its outcome has', async () => {
  const finished = hear('run.finished');
  const there = defineMachine({ ...head, name: 'there', check: () => handoff(1), work: () => 2 });
  const { fleet, clock } = await open({ machines: [failing, quick, there] });
  const ids = [];
  for (const machine of [failing, quick, there])
    ids.push((await fleet.startByName(machine.name, {})).id);
  await clock.settle();
  expect(finished.map(({ outcome }) => outcome)).toEqual(['aborted', 'completed', 'handedOff']);
  expect(ids.map((id) => fleet.describe(id).outcome)).toEqual([
    'aborted',
    'completed',
    'handedOff',
  ]);
});

// 9
test('a name or key that another one begins with does not find it, and a bad id is an error', async () => {
  const longer = defineMachine({ ...head, name: 'quicker', check: 'none', work: () => 1 });
  const { fleet } = await open({ machines: [quick, longer] });
  const one = await fleet.startLocal(quick, {}, { key: 'a' });
  const two = await fleet.startLocal(quick, {}, { key: 'ab' });
  const three = await fleet.startLocal(longer, {});
  expect(one.id).not.toBe(two.id);
  await Promise.all([one.result(), two.result(), three.result()]);
  expect(fleet.runs({ machine: 'quick', countMax: 9 })).toHaveLength(2);
  expect(fleet.runs({ status: 'unfinished', countMax: 9 })).toEqual([]);
  expect(() => fleet.describe('not an id')).toThrow(/there is no run not an id/);
});

// 10
test('the data directory is made, with its parents, so that its owner can use it and nobody else', async () => {
  const dataDir = join(newDir(), 'deep', 'er');
  await open({ machines: [quick], dataDir });
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(statSync(join(dataDir, 'journal.db')).mode & 0o777).toBe(0o600);
});

// 12
test('a record that the journal does not take stops its run there, and the next process goes on', async () => {
  const calls: string[] = [];
  const machine = defineMachine({
    ...head,
    name: 'unrecorded',
    check: 'none',
    work: () => calls.push('work'),
    persist: () => calls.push('persist'),
  });
  const first = await open({ machines: [machine] });
  const append = SqliteJournal.prototype.append;
  SqliteJournal.prototype.append = function (entry) {
    if (entry.event.type === 'DONE') return Promise.reject(new Error('not taken'));
    return append.call(this, entry);
  };
  const run = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  SqliteJournal.prototype.append = append;
  expect(calls).toEqual(['work']);
  expect(first.fleet.describe(run.id)).toMatchObject({
    status: 'quarantined',
    reason: 'not taken',
  });
  const { fleet, clock } = await afterCrash(first, { machines: [machine] });
  await clock.settle();
  expect(fleet.describe(run.id).status).toBe('completed');
  expect(calls).toEqual(['work', 'work', 'persist']);
});

// 13, 16
test.each([null, 0, '', false, { id: 0 }])(
  'a handoff of %j ends the step, keeps its output, and is a success',
  async (output) => {
    let works = 0;
    const machine = defineMachine({
      ...head,
      name: 'empty-handed',
      check: () => handoff(output as null),
      work: () => {
        works++;
        return null;
      },
    });
    const { fleet } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    expect(await run.result()).toEqual(output);
    expect(fleet.describe(run.id).outcome).toBe('handedOff');
    expect(works).toBe(0);
  },
);

// 14
test('whoever waits for a run gets its output', async () => {
  const { fleet } = await open({ machines: [quick] });
  expect(await (await fleet.startLocal(quick, { id: 'this' })).result()).toBe('this');
});

// 15
test('attempts and timeouts are the engine’s business and not the handler’s', async () => {
  let calls = 0;
  const machine = defineMachine({
    ...head,
    name: 'plain',
    retry: { attemptMax: 3, backoff: () => 0 },
    timeout: { work: '1s' },
    check: 'none',
    work: (): Promise<string> => {
      calls++;
      return never();
    },
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(3 * 6_000);
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
  expect(calls).toBe(3);
});
