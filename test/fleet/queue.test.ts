/** What is claimed first, when, by whom; and rows that make no sense. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineMachine, retryAfter, TaskKeyConflictError } from '../../src/index.ts';
import { never } from '../support/fleets.ts';
import { onlyWork, Script } from './script.ts';
import { anyInput, useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();

/** Writes down whose turn it was. */
function ordered(order: string[]) {
  return defineMachine({
    name: 'ordered',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ input }) => void order.push(input.id ?? ''),
  });
}

test('higher priority goes first, then the older', async () => {
  const order: string[] = [];
  const machine = ordered(order);
  const { clock, startPod } = startFleet();
  const client = await startPod('client', { machines: [machine], isClient: true });
  for (const [id, priority] of [
    ['low', -5],
    ['first', 0],
    ['high', 9],
    ['second', 0],
  ] as const) {
    await client.fleet.enqueue(machine, { id }, { priority });
    await clock.advance(10);
  }
  await startPod('alder', { machines: [machine], slots: 1 });
  await clock.advance(2_000);
  expect(order).toEqual(['high', 'first', 'second', 'low']);
});

test('runAt: not before its time, by a duration or by a date, and reschedule moves it', async () => {
  const order: string[] = [];
  const machine = ordered(order);
  const { clock, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine] });
  await pod.fleet.enqueue(machine, { id: 'minute' }, { runAt: '1m' });
  await pod.fleet.enqueue(machine, { id: 'date' }, { runAt: new Date(clock.now() + 30_000) });
  const moved = await pod.fleet.enqueue(machine, { id: 'moved' }, { runAt: '1h' });
  await clock.advance(28_000);
  expect(order).toEqual([]);
  expect(await moved.reschedule('1s')).toBe('done');
  await clock.advance(4_000);
  expect(order).toEqual(['moved', 'date']);
  await clock.advance(30_000);
  expect(order).toEqual(['moved', 'date', 'minute']);
});

test('I6: one key and one input are one task, also where the first answer was lost', async () => {
  const order: string[] = [];
  const machine = ordered(order);
  const { clock, startPod, store } = startFleet();
  const pod = await startPod('alder', { machines: [machine] });
  // That of the first try, and that of the second, which the pod makes by itself.
  pod.wire.losesAnswers.set('enqueue', 2);
  await expect(pod.fleet.enqueue(machine, { id: 'x' }, { key: 'k' })).rejects.toThrow('lost');
  const again = await pod.fleet.enqueue(machine, { id: 'x' }, { key: 'k' });
  const third = await pod.fleet.enqueue(machine, { id: 'x' }, { key: 'k' });
  await clock.advance(1_000);
  const late = await pod.fleet.enqueue(machine, { id: 'x' }, { key: 'k' });
  expect([third.id, late.id]).toEqual([again.id, again.id]);
  expect(order).toEqual(['x']);
  expect(await store.list({ countMax: 10 })).toHaveLength(1);
});

test('one key with another input is a conflict that names the task', async () => {
  const machine = ordered([]);
  const { startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine] });
  const { id } = await pod.fleet.enqueue(machine, { id: 'x' }, { key: 'k' });
  const other = pod.fleet.enqueue(machine, { id: 'y' }, { key: 'k' });
  await expect(other).rejects.toThrow(TaskKeyConflictError);
  await expect(other).rejects.toThrow(id);
});

test('a pod does not claim what it cannot run', async () => {
  const script = new Script();
  const [known, other] = [onlyWork(script, 'known'), onlyWork(script, 'other')];
  const { clock, startPod, row } = startFleet();
  const client = await startPod('client', { machines: [known, other], isClient: true });
  const { id } = await client.fleet.enqueue(other, {});
  await startPod('alder', { machines: [known], around: script.around });
  await clock.advance(10_000);
  expect(await row(id)).toMatchObject({ status: 'pending', claims: 0 });
  await startPod('birch', { machines: [known, other], around: script.around });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('I29: suspects are not claimed by ordinary pods', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row, tables } = startFleet();
  const client = await startPod('client', { machines: [machine], isClient: true });
  const { id } = await client.fleet.enqueue(machine, {});
  tables.tasks.get(id)!.crashes = 2;
  await startPod('alder', { machines: [machine], around: script.around });
  await clock.advance(10_000);
  expect(await row(id)).toMatchObject({ status: 'pending', claims: 0 });
  await startPod('suspects', { machines: [machine], around: script.around, isSuspectsOnly: true });
  const innocent = await client.fleet.enqueue(machine, {});
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
  expect(await row(innocent.id)).toMatchObject({ status: 'completed' });
});

test('no more is claimed than about 80 % of the slots, whatever is ready', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod } = startFleet();
  script.holds.set('main.work', never());
  const pod = await startPod('alder', { machines: [machine], around: script.around, slots: 10 });
  for (let count = 0; count < 30; count++) await pod.fleet.enqueue(machine, {});
  await clock.advance(2_000);
  const { held, capacity } = pod.fleet.status.pod!;
  // Fewer where this very process is busy.
  expect(capacity).toBeLessThanOrEqual(8);
  expect(held).toBeLessThanOrEqual(8);
  expect(held).toBeGreaterThanOrEqual(capacity);
  expect(script.calls).toHaveLength(held);
});

const strict = defineMachine({
  name: 'strict',
  version: 1,
  input: z.object({ n: z.number() }),
  check: 'none',
  work: ({ input }) => input.n,
});

test('a row that is not JSON, violates the schema or has no payload is a dead letter, and others go on', async () => {
  const { clock, startPod, row, tables } = startFleet();
  const refused = hear('task.refused');
  const pod = await startPod('alder', { machines: [strict] });
  const bad = ['{oops', '{"n":"one"}', '[]', 'null', '', undefined].map(
    (payload) => tables.insert({ machine: 'strict', payload, priority: 5 }).taskId,
  );
  const good = await pod.fleet.enqueue(strict, { n: 1 });
  await clock.advance(2_000);
  expect(await row(good.id)).toMatchObject({ status: 'completed', result: '1' });
  for (const id of bad) {
    const { status, outcome, error } = await row(id);
    expect({ status, outcome }).toEqual({ status: 'failed', outcome: 'aborted' });
    expect(JSON.parse(error!)).toMatchObject({ code: expect.stringMatching(/^FLEETQ_/) as string });
  }
  expect(refused).toHaveLength(bad.length);
  expect((await row(bad[0]!)).error).toContain('not JSON');
  expect((await row(bad[1]!)).error).toContain('n');
});

test('a payload that is too large is a dead letter', async () => {
  const { clock, startPod, row, tables } = startFleet();
  await startPod('alder', { machines: [strict], resultBytesMax: 1_000 });
  const payload = JSON.stringify({ n: 1, more: 'x'.repeat(2_000) });
  const { taskId } = tables.insert({ machine: 'strict', payload });
  await clock.advance(1_000);
  expect((await row(taskId)).error).toContain('FLEETQ_TOO_LARGE');
});

test('a row with an id of another form, or of a machine nobody ever had, becomes a dead letter', async () => {
  const { clock, startPod, row, tables } = startFleet();
  const pod = await startPod('alder', { machines: [strict] });
  const odd = 'not-an-id' as never;
  tables.insert({ machine: 'strict', payload: '{"n":1}', taskId: odd });
  const nobody = tables.insert({ machine: 'nobodys', payload: '{}' }).taskId;
  await clock.advance(120_000);
  expect(await row(odd)).toMatchObject({ status: 'failed' });
  expect(await row(nobody)).toMatchObject({ status: 'failed' });
  expect((await row(nobody)).error).toContain('FLEETQ_MACHINE_UNKNOWN');
  const good = await pod.fleet.enqueue(strict, { n: 2 });
  await clock.advance(1_000);
  expect(await row(good.id)).toMatchObject({ status: 'completed' });
});

test('a row of a plain INSERT has the time its machine gives it, or a day, and no more', async () => {
  const postponing = (name: string, timeout: object) =>
    defineMachine({
      name,
      version: 1,
      input: anyInput,
      ...timeout,
      check: 'none',
      work: () => {
        throw retryAfter('7m', 'not yet');
      },
    });
  const machines = [postponing('limited', { timeout: { run: '30m' } }), postponing('endless', {})];
  const { clock, tables, startPod, row } = startFleet();
  const insert = (machine: string, agoMs: number) => {
    const at = clock.now() - agoMs;
    return tables.insert({ machine, payload: '{}', createdAt: at, runAt: at }).taskId;
  };
  await startPod('alder', { machines });
  const limited = insert('limited', 0);
  const young = insert('endless', 23 * 3_600_000);
  const old = insert('endless', 25 * 3_600_000);
  await clock.advance(29 * 60_000);
  expect(await row(limited)).toMatchObject({ status: 'waiting' });
  expect(await row(young)).toMatchObject({ status: 'waiting' });
  expect(await row(old)).toMatchObject({ status: 'failed', outcome: 'timedOut' });
  await clock.advance(2 * 60_000);
  expect(await row(limited)).toMatchObject({ status: 'failed', outcome: 'timedOut' });
});

test('a suspect that nobody can run ends when its time is up', async () => {
  const machine = onlyWork(new Script());
  const { clock, tables, startPod, row } = startFleet();
  // A library's machines are in no file that another process could load.
  await startPod('alder', { machines: [machine] });
  const deadlineAt = clock.now() + 60_000;
  const of = { machine: machine.name, payload: '{}', crashes: 2, deadlineAt };
  const { taskId } = tables.insert(of);
  await clock.advance(60_000);
  expect(await row(taskId)).toMatchObject({ status: 'pending' });
  await clock.advance(120_000);
  expect(await row(taskId)).toMatchObject({ status: 'failed', outcome: 'timedOut' });
});
