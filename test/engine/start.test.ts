/** Beginning a run, and getting its result. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { RunTable } from '../../src/engine/run-table.ts';
import { defineMachine, handoff } from '../../src/index.ts';
import { anyInput, gate, never, useFleets } from '../support/fleets.ts';

const { open, afterCrash } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;
const HOUR_MS = 3_600_000;
const echo = defineMachine({ ...head, name: 'echo', work: ({ input }) => input.id ?? 'nobody' });

test('one key is one run, also for starts that come at once', async () => {
  const { fleet } = await open({ machines: [echo] });
  const [keyless, ...runs] = await Promise.all([
    fleet.startLocal(echo, { id: 'a' }),
    ...Array.from({ length: 20 }, () => fleet.startLocal(echo, { id: 'a' }, { key: 'k' })),
  ]);
  expect(new Set(runs.map((run) => run.id)).size).toBe(1);
  expect(fleet.runs({ countMax: 100 })).toHaveLength(2);
  expect(fleet.describe(keyless.id).key).toBeUndefined();
  expect((await fleet.startLocal(echo, { id: 'a' }, { key: 'k' })).id).toBe(runs[0]!.id);
});

test('one key is one run over a crash in the instant of the answer', async () => {
  const first = await open({ machines: [echo] });
  const run = await first.fleet.startLocal(echo, { id: 'a' }, { key: 'k' });
  const second = await afterCrash(first, { machines: [echo] });
  expect((await second.fleet.startLocal(echo, { id: 'a' }, { key: 'k' })).id).toBe(run.id);
});

test('a key that was used for another input is refused, and says by which run', async () => {
  const { fleet } = await open({ machines: [echo] });
  const run = await fleet.startLocal(echo, { id: 'a' }, { key: 'k' });
  await expect(fleet.startLocal(echo, { id: 'b' }, { key: 'k' })).rejects.toMatchObject({
    code: 'FLEETQ_KEY_CONFLICT',
    message: expect.stringContaining(run.id),
  });
});

test('the keys of two machines have nothing to do with each other', async () => {
  const other = defineMachine({ ...head, name: 'other', work: () => 1 });
  const { fleet } = await open({ machines: [echo, other] });
  const [one, two] = [
    await fleet.startLocal(echo, {}, { key: 'k' }),
    await fleet.startLocal(other, { id: 'b' }, { key: 'k' }),
  ];
  expect(one.id).not.toBe(two.id);
});

test('a key may be used again once its run has ended and its time is over', async () => {
  const { fleet, clock } = await open({ machines: [echo], retention: '1h' });
  const first = await fleet.startLocal(echo, { id: 'a' }, { key: 'k' });
  await first.result();
  await clock.advance(HOUR_MS - 1_000);
  expect((await fleet.startLocal(echo, { id: 'a' }, { key: 'k' })).id).toBe(first.id);
  await clock.advance(2_000);
  const second = await fleet.startLocal(echo, { id: 'b' }, { key: 'k' });
  expect(second.id).not.toBe(first.id);
  expect(await second.result()).toBe('b');
});

test('the key of a run that goes on does not expire', async () => {
  const machine = defineMachine({ ...head, name: 'long', work: () => never() as Promise<string> });
  const { fleet, clock } = await open({ machines: [machine], retention: '1h' });
  const first = await fleet.startLocal(machine, {}, { key: 'k' });
  await clock.advance(5 * HOUR_MS);
  expect((await fleet.startLocal(machine, {}, { key: 'k' })).id).toBe(first.id);
});

test('a key that still counts after a longer retention was set finds its run without its records', async () => {
  const first = await open({ machines: [echo], retention: '1h' });
  const run = await first.fleet.startLocal(echo, { id: 'a' }, { key: 'k' });
  await run.result();
  await first.clock.advance(2 * HOUR_MS);
  const second = await afterCrash(first, { machines: [echo], retention: '7d' });
  expect(second.fleet.events(run.id)).toEqual([]);
  expect((await second.fleet.startLocal(echo, { id: 'a' }, { key: 'k' })).id).toBe(run.id);
});

test('a start that failed leaves its key free', async () => {
  const { fleet } = await open({ machines: [echo], activeRunsMax: 1 });
  const blocker = fleet.startLocal(echo, {});
  await expect(fleet.startLocal(echo, { id: 'a' }, { key: 'k' })).rejects.toMatchObject({
    code: 'FLEETQ_TOO_MANY_RUNS',
  });
  await (await blocker).result();
  expect(await (await fleet.startLocal(echo, { id: 'b' }, { key: 'k' })).result()).toBe('b');
});

test('no more runs are taken in than may be in memory, however they come', async () => {
  const machine = defineMachine({ ...head, name: 'held', work: () => never() as Promise<string> });
  const { fleet } = await open({ machines: [machine], activeRunsMax: 10 });
  const starts = await Promise.allSettled(
    Array.from({ length: 25 }, () => fleet.startLocal(machine, {})),
  );
  expect(starts.filter((start) => start.status === 'fulfilled')).toHaveLength(10);
  expect(fleet.status.inMemory).toBe(10);
});

test.each(['', 'x'.repeat(513), 7, null])('the key %j is refused', async (key) => {
  const { fleet } = await open({ machines: [echo] });
  await expect(fleet.startLocal(echo, {}, { key: key as never })).rejects.toThrow(
    /key must be text/,
  );
});

test('result gives the output, through the schema of the last step', async () => {
  const machine = defineMachine({
    ...head,
    name: 'dated',
    output: z.object({ at: z.coerce.date() }),
    work: () => ({ at: '2030-01-01' }) as never,
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  expect(await run.result()).toEqual({ at: new Date('2030-01-01') });
});

test.each([{ id: 0 }, null, 0, '', false])(
  'result gives the output of a handoff, though it be %j, and where and why it was one',
  async (output) => {
    let works = 0;
    const machine = defineMachine({
      ...head,
      name: 'there',
      check: () => handoff(output as never, 'seen it'),
      work: () => ++works,
    });
    const { fleet } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    expect(await run.result()).toEqual(output);
    const ending = { status: 'handedOff', state: 'main.check', reason: 'seen it' };
    expect(fleet.describe(run.id)).toMatchObject(ending);
    expect(works).toBe(0);
  },
);

test('the result of a run that nobody knows is an error and not nothing', async () => {
  const { fleet } = await open({ machines: [echo] });
  const unknown = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  await expect(fleet.run(echo, unknown as never).result()).rejects.toMatchObject({
    code: 'FLEETQ_RUN_NOT_FOUND',
  });
  for (const id of [unknown, 'nonsense', '', '../../etc'])
    expect(() => fleet.runById(id)).toThrow(/there is no run/);
});

test('a wait for a result ends with its time or its signal, and the run goes on', async () => {
  const answer = gate<string>();
  const machine = defineMachine({ ...head, name: 'slow', work: () => answer.opened });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  const timed = run.result({ timeout: '1s' });
  timed.catch(() => undefined);
  await clock.advance(1_000);
  await expect(timed).rejects.toMatchObject({ code: 'FLEETQ_WAIT_TIMEOUT' });

  const controller = new AbortController();
  const signalled = run.result({ signal: controller.signal, timeout: '1h' });
  controller.abort(new Error('enough'));
  await expect(signalled).rejects.toThrow('enough');
  await expect(run.result({ signal: controller.signal })).rejects.toThrow('enough');
  await expect(run.result({ timeout: 'soon' as never })).rejects.toThrow(/timeout must be/);

  answer.open('after all');
  expect(await run.result({ timeout: '1s' })).toBe('after all');
  // One is left for pruning: nobody who has stopped waiting keeps the process awake.
  expect(clock.timerCount).toBeLessThanOrEqual(1);
});

test('whoever stops waiting is forgotten, however long the run goes on', async () => {
  const table = new RunTable();
  const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV' as never;
  for (let index = 0; index < 100; index++) {
    const controller = new AbortController();
    const waiting = table.whenEnded(id, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  }
  expect(table.waiterCount).toBe(0);
});

test('every outcome is the same before a restart, after it, and after its records were pruned', async () => {
  const machine = defineMachine({
    ...head,
    name: 'every-end',
    retry: { attemptMax: 1 },
    timeout: { run: '1m' },
    check: ({ input }) => (input.id === 'handedOff' ? handoff('there', 'seen') : undefined),
    work: ({ input, signal }): Promise<string> | string => {
      if (input.id === 'exhausted') throw new Error('broken');
      if (input.id === 'aborted') throw Object.assign(new Error(), aborted());
      if (input.id === 'timedOut' || input.id === 'cancelled') {
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('told')));
        });
      }
      return 'made';
    },
  });
  const ends = ['completed', 'handedOff', 'exhausted', 'aborted', 'timedOut', 'cancelled'] as const;
  const first = await open({ machines: [machine], retention: '2h' });
  const ids = new Map<string, string>();
  for (const id of ends) ids.set(id, (await first.fleet.startLocal(machine, { id })).id);
  await first.clock.settle();
  await first.fleet.runById(ids.get('cancelled')!).cancel('no more');
  await first.clock.advance(60_000);

  const tell = async (fleet: typeof first.fleet) =>
    Object.fromEntries(
      await Promise.all(
        ends.map(async (end) => {
          const run = fleet.runById(ids.get(end)!);
          const result = await run.result().catch((error: Error) => ({ ...error, stack: '' }));
          const { outcome, status, state, reason, error, finishedAt } = fleet.describe(run.id);
          return [end, { result, outcome, status, state, reason, error, finishedAt }] as const;
        }),
      ),
    );
  const before = await tell(first.fleet);
  expect(ends.map((end) => before[end]!.outcome)).toEqual([...ends]);
  const second = await afterCrash(first, { machines: [machine], retention: '2h' });
  expect(await tell(second.fleet)).toEqual(before);
  await second.clock.advance(3 * HOUR_MS);
  expect(second.fleet.events(ids.get('completed')!)).toEqual([]);
  expect(await tell(second.fleet)).toEqual(before);
  const third = await afterCrash(second, { machines: [machine], retention: '2h' });
  expect(await tell(third.fleet)).toEqual(before);
});

/** An abort as another copy of FleetQ would throw it. */
function aborted() {
  return { [Symbol.for('fleetq.verdict')]: 'abort', reason: 'not yours', kind: 'user' };
}
