/** What a crash does to the runs that were being executed, and to those that were not. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defineMachine, handoff } from '../../src/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { anyInput, kinds, never, useFleets } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';

const { open, afterCrash } = useFleets();
const head = { version: 1, input: anyInput } as const;

/** Hangs in `work` in its first process, and says what was called in which. */
function hanging(calls: string[], check: 'none' | (() => ReturnType<typeof handoff> | void)) {
  return defineMachine({
    ...head,
    name: 'hanging',
    retry: { attemptMax: 3, backoff: () => 0 },
    check:
      check === 'none'
        ? check
        : ({ fencingToken }) => {
            calls.push(`check in ${fencingToken}`);
            return check() as never;
          },
    work: ({ fencingToken, attempt }): Promise<string> | string => {
      calls.push(`work in ${fencingToken}, attempt ${attempt}`);
      return fencingToken === 1 ? never() : 'made';
    },
  });
}

test('an interrupted phase is an attempt, and check is asked before it is tried again', async () => {
  const calls: string[] = [];
  const machine = hanging(calls, () => undefined);
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(calls).toEqual([
    'check in 1',
    'work in 1, attempt 1',
    'check in 2',
    'work in 2, attempt 2',
  ]);
  expect(kinds(second.fleet, id)).toEqual(['STARTED', 'DONE', 'INTERRUPTED', 'PROBED', 'DONE']);
  expect(second.fleet.describe(id)).toMatchObject({ status: 'completed', output: 'made' });
});

test('a crash in an attempt that began at once counts like any other', async () => {
  const attempts: number[] = [];
  const machine = defineMachine({
    ...head,
    name: 'at-once',
    retry: { attemptMax: 3, backoff: () => 0 },
    check: 'none',
    work: ({ attempt, fencingToken }): Promise<string> => {
      attempts.push(attempt);
      if (fencingToken === 1 && attempt === 1) throw new Error('not yet');
      return never();
    },
  });
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  expect(attempts).toEqual([1, 2]);
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(attempts).toEqual([1, 2, 3]);
  expect(kinds(second.fleet, id)).toEqual(['STARTED', 'FAILED', 'INTERRUPTED']);
});

test('a probe that finds the work done hands off, and the work is not repeated', async () => {
  const calls: string[] = [];
  let isThere = false;
  const machine = hanging(calls, () => (isThere ? handoff('found', 'it is there') : undefined));
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  isThere = true;
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(calls.at(-1)).toBe('check in 2');
  expect(second.fleet.describe(id)).toMatchObject({
    outcome: 'handedOff',
    output: 'found',
    reason: 'it is there',
    state: 'main.work',
  });
});

test('a probe that throws is a failed attempt of its phase', async () => {
  const calls: string[] = [];
  let isBroken = false;
  const machine = hanging(calls, () => {
    if (isBroken) throw new Error('cannot look');
  });
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  isBroken = true;
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(second.fleet.describe(id)).toMatchObject({
    outcome: 'exhausted',
    state: 'main.work',
    error: { message: 'cannot look' },
  });
  expect(calls.filter((call) => call.startsWith('work'))).toHaveLength(1);
});

/** Has one attempt, which never answers; `check` says what the test wants it to. */
function onlyOnce(calls: string[], check: (signal: AbortSignal) => unknown) {
  return defineMachine({
    ...head,
    name: 'only-once',
    retry: { attemptMax: 1 },
    check: ({ signal }) => {
      calls.push('check');
      return check(signal) as never;
    },
    work: (): Promise<string> => {
      calls.push('work');
      return never();
    },
  });
}

test('after the last attempt check is asked all the same, and hands off what was done', async () => {
  const calls: string[] = [];
  let isThere = false;
  const machine = onlyOnce(calls, () => (isThere ? handoff('found') : undefined));
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  isThere = true;
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(second.fleet.describe(id)).toMatchObject({ outcome: 'handedOff', output: 'found' });
  expect(kinds(second.fleet, id)).toEqual(['STARTED', 'DONE', 'INTERRUPTED', 'HANDED_OFF']);
  expect(calls).toEqual(['check', 'work', 'check']);
});

test('after the last attempt a probe that finds nothing ends the run, and nothing is repeated', async () => {
  const calls: string[] = [];
  const machine = onlyOnce(calls, () => undefined);
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(second.fleet.describe(id)).toMatchObject({
    outcome: 'exhausted',
    state: 'main.work',
    error: { code: 'FLEETQ_INTERRUPTED', message: 'the process ended while main.work was running' },
  });
  expect(kinds(second.fleet, id)).toEqual(['STARTED', 'DONE', 'INTERRUPTED', 'EXHAUSTED']);
  expect(calls).toEqual(['check', 'work', 'check']);
});

test('a process that dies in the probe after the last attempt is not given another', async () => {
  const calls: string[] = [];
  let asked = 0;
  const machine = onlyOnce(calls, () => (++asked === 2 ? never() : undefined));
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  const third = await afterCrash(second, { machines: [machine] });
  await third.clock.settle();
  expect(kinds(third.fleet, id)).toEqual(['STARTED', 'DONE', 'INTERRUPTED', 'EXHAUSTED']);
  expect(calls).toEqual(['check', 'work', 'check']);
});

test.each([true, false])(
  'a probe after the last attempt that a drain cut short is asked again, and finds it: %s',
  async (isThere) => {
    const calls: string[] = [];
    let asked = 0;
    const machine = onlyOnce(calls, (signal) => {
      if (++asked === 2) return once(signal, 'abort').then(() => Promise.reject(signal.reason));
      return asked > 2 && isThere ? handoff('found') : undefined;
    });
    const first = await open({ machines: [machine] });
    const { id } = await first.fleet.startLocal(machine, {});
    await first.clock.settle();
    const second = await afterCrash(first, { machines: [machine] });
    await second.clock.settle();
    const drained = second.fleet.drain({ budget: '1s' });
    await second.clock.advance(20_000);
    await drained;
    const third = await afterCrash(second, { machines: [machine] });
    await third.clock.settle();
    expect(third.fleet.describe(id).outcome).toBe(isThere ? 'handedOff' : 'exhausted');
    expect(calls).toEqual(['check', 'work', 'check', 'check']);
  },
);

test('without a check there is nothing to ask, and the phase is repeated', async () => {
  const calls: string[] = [];
  const machine = hanging(calls, 'none');
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(calls).toEqual(['work in 1, attempt 1', 'work in 2, attempt 2']);
  expect(second.fleet.describe(id).status).toBe('completed');
});

test('a retry after a throw asks check first, and may hand off too', async () => {
  let works = 0;
  const machine = defineMachine({
    ...head,
    name: 'half-done',
    retry: { backoff: () => 0 },
    check: () => (works > 0 ? handoff('it had happened after all') : undefined),
    work: (): string => {
      works++;
      throw new Error('the answer was lost');
    },
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  expect(await run.result()).toBe('it had happened after all');
  expect(works).toBe(1);
});

test('of 200 runs and 4 slots a crash punishes the 4 that were being executed', async () => {
  const machine = defineMachine({
    ...head,
    name: 'crowd',
    check: 'none',
    work: ({ fencingToken }): Promise<number> | number => (fencingToken === 1 ? never() : 1),
  });
  const first = await open({ machines: [machine], slots: 4 });
  const runs = await Promise.all(
    Array.from({ length: 200 }, () => first.fleet.startLocal(machine, {})),
  );
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine], slots: 4 });
  await second.clock.settle();
  const punished = runs.filter((run) => kinds(second.fleet, run.id).includes('INTERRUPTED'));
  expect(punished.map((run) => run.id)).toEqual(runs.slice(0, 4).map((run) => run.id));
  for (const run of runs) expect(second.fleet.describe(run.id).status).toBe('completed');
});

test('a run that waited out a backoff when the process died is not punished', async () => {
  const machine = defineMachine({
    ...head,
    name: 'unlucky',
    retry: { attemptMax: 2, backoff: () => 1_000 },
    check: 'none',
    work: ({ attempt }) => {
      if (attempt === 1) throw new Error('once');
      return attempt;
    },
  });
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.advance(1_000);
  expect(kinds(second.fleet, id)).toEqual(['STARTED', 'FAILED', 'DONE']);
});

test('a second crash before the interruption is on record forgets nothing of it', async () => {
  const calls: string[] = [];
  const machine = hanging(calls, () => undefined);
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  // Opened, and dead before the loop turned once, as it would to make a socket.
  const second = await afterCrash(first, { machines: [machine], socket: false });
  const third = await afterCrash(second, { machines: [machine], socket: false });
  second.fleet.stopNow();
  await third.clock.settle();
  expect(calls.slice(2)).toEqual(['check in 3', 'work in 3, attempt 2']);
  expect(kinds(third.fleet, id)).toEqual(['STARTED', 'DONE', 'INTERRUPTED', 'PROBED', 'DONE']);
});

test('a second crash after the interruption is on record does not count it twice', async () => {
  const machine = defineMachine({
    ...head,
    name: 'counted',
    retry: { attemptMax: 3 },
    check: 'none',
    work: ({ fencingToken }): Promise<number> | number => (fencingToken < 3 ? never() : 1),
  });
  const first = await open({ machines: [machine], slots: 1 });
  const runs = [
    await first.fleet.startLocal(machine, {}),
    await first.fleet.startLocal(machine, {}),
  ];
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine], slots: 1 });
  await second.clock.settle();
  const third = await afterCrash(second, { machines: [machine], slots: 1 });
  await third.clock.settle();
  // In the first process the first run had the slot; in the second, the one that had waited longer.
  const counts = runs.map(
    (run) => kinds(third.fleet, run.id).filter((kind) => kind === 'INTERRUPTED').length,
  );
  expect(counts.reduce((sum, count) => sum + count)).toBe(2);
  for (const run of runs) expect(third.fleet.describe(run.id).status).toBe('completed');
});

test('where nobody can tell who was inside a phase, check is asked, and no attempt is counted', async () => {
  const calls: string[] = [];
  const machine = hanging(calls, () => undefined);
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  first.fleet.stopNow();
  writeFileSync(join(first.dataDir, 'journal.mark'), 'torn to pieces, and longer than nothing');
  // That nothing is known must outlive a process that opens the journal and dies.
  SqliteJournal.open(first.dataDir, { clock: first.clock, random: seededRandom(2) }).close();
  const third = await open({ machines: [machine], dataDir: first.dataDir, clock: first.clock });
  await third.clock.settle();
  expect(calls.slice(2)).toEqual(['check in 3', 'work in 3, attempt 1']);
  expect(third.fleet.describe(id).status).toBe('completed');
});
