/** A fleet with a codec: what the tables hold is sealed, and whoever has no key leaves it alone. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { aesCodec, newCodecKey, parseCodecKeys, type RunId } from '../../src/ground/index.ts';
import { abort, type Codec, defineMachine } from '../../src/index.ts';
import type { MemoryTables } from '../../src/store/index.ts';
import { never } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Script, sleeper, twoSteps } from './script.ts';
import { useTestFleets, whileAdvancing } from './support.ts';

const { startFleet, hear } = useTestFleets();

const CANARY = 'canary-71f2';
const lineOf = (id: string) => newCodecKey(id, seededRandom(id.charCodeAt(0)));
const codecOf = (...ids: string[]): Codec =>
  aesCodec(parseCodecKeys(ids.map(lineOf).join(','), 'the test'));

const secretive = defineMachine({
  name: 'secretive',
  version: 1,
  input: z.object({ secret: z.string(), fails: z.boolean().optional() }),
  check: 'none',
  work: ({ input }) => {
    if (input.fails) throw abort(`cannot use ${input.secret}`);
    return { got: input.secret };
  },
});

/** Everything that the tables hold, as one text. */
function dump(tables: MemoryTables): string {
  return JSON.stringify([
    ...tables.pods.values(),
    ...tables.tasks.values(),
    ...tables.events.values(),
    ...tables.registry.values(),
  ]);
}

test('inputs, outputs, errors and reasons are in no table, and come back as they were', async () => {
  const { tables, clock, startPod, row } = startFleet();
  const { fleet } = await startPod('alder', { machines: [secretive], codec: codecOf('a') });
  const good = await fleet.enqueue(secretive, { secret: CANARY }, { key: 'one' });
  const bad = await fleet.enqueue(secretive, { secret: CANARY, fails: true });
  const later = await fleet.enqueue(secretive, { secret: CANARY }, { runAt: '1h' });
  expect(await whileAdvancing(clock, good.result())).toEqual({ got: CANARY });
  await expect(whileAdvancing(clock, bad.result())).rejects.toThrow(`cannot use ${CANARY}`);
  await later.cancel(`for ${CANARY}`);
  await expect(whileAdvancing(clock, later.result())).rejects.toThrow(CANARY);
  expect(dump(tables)).not.toContain(CANARY);
  // The same key and input are one task, though no two sealed texts are the same.
  const again = await fleet.enqueue(secretive, { secret: CANARY }, { key: 'one' });
  expect(again.id).toBe(good.id);
  await expect(fleet.enqueue(secretive, { secret: 'other' }, { key: 'one' })).rejects.toMatchObject(
    { code: 'FLEETQ_KEY_CONFLICT' },
  );
  // What programs need to know of an error can still be read.
  const { error } = await row(bad.id);
  expect(JSON.parse(error ?? '')).toMatchObject({ message: 'sealed' });
  expect(await row(good.id)).toMatchObject({ payload: expect.stringMatching(/^fqs1\.a\./) });
});

test('without a codec the same secrets are in the tables, so the search finds what is there', async () => {
  const { tables, clock, startPod } = startFleet();
  const { fleet } = await startPod('alder', { machines: [secretive] });
  const good = await fleet.enqueue(secretive, { secret: CANARY });
  await whileAdvancing(clock, good.result());
  expect(dump(tables)).toContain(CANARY);
});

test('a pod without the key leaves the task alone, says so once, and who has it goes on at once', async () => {
  const { clock, startPod, row } = startFleet();
  const [alarms, blocked] = [hear('journal.alarm'), hear('task.blocked')];
  const keyless = await startPod('alder', { machines: [secretive] });
  const producer = await startPod('birch', {
    machines: [secretive],
    codec: codecOf('a'),
    isClient: true,
  });
  const tasks = [
    await producer.fleet.enqueue(secretive, { secret: CANARY }),
    await producer.fleet.enqueue(secretive, { secret: CANARY }),
  ];
  await clock.advance(30_000);
  for (const { id } of tasks) {
    expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'key', crashes: 0 });
  }
  expect(alarms.filter(({ kind }) => kind === 'keyMissing')).toHaveLength(1);
  expect(blocked.length).toBeGreaterThanOrEqual(2);
  expect(blocked[0]?.reason).toContain('sealed with key a, which is not here');
  keyless.fleet.stopNow();
  await startPod('cedar', { machines: [secretive], codec: codecOf('b', 'a') });
  await clock.advance(5_000);
  for (const task of tasks) {
    expect(await row(task.id)).toMatchObject({
      status: 'completed',
      result: expect.stringMatching(/^fqs1\.b\./),
    });
  }
});

test('a pod that has another key under the same name does not take the task for damaged', async () => {
  const { clock, startPod, row } = startFleet();
  const other = aesCodec(parseCodecKeys(lineOf('z').replace('z:', 'a:'), 'the test'));
  const { fleet } = await startPod('alder', { machines: [secretive], codec: other });
  const producer = await startPod('birch', {
    machines: [secretive],
    codec: codecOf('a'),
    isClient: true,
  });
  const { id } = await producer.fleet.enqueue(secretive, { secret: CANARY });
  await clock.advance(5_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'key' });
  expect(fleet.status.pod?.held).toBe(0);
});

test('a text that was put into the row of another task is a dead letter, and nobody runs it', async () => {
  const { tables, clock, startPod, row } = startFleet();
  const { fleet } = await startPod('alder', { machines: [secretive], codec: codecOf('a') });
  const [one, other] = [
    await fleet.enqueue(secretive, { secret: 'one' }, { runAt: '10s' }),
    await fleet.enqueue(secretive, { secret: 'other' }, { runAt: '10s' }),
  ];
  const moved = tables.tasks.get(other.id)!.payload;
  tables.tasks.set(one.id, { ...tables.tasks.get(one.id)!, payload: moved });
  await clock.advance(15_000);
  expect(await row(one.id)).toMatchObject({ status: 'failed' });
  expect((await row(one.id)).error).toContain('FLEETQ_SEAL_BROKEN');
  expect(await row(other.id)).toMatchObject({ status: 'completed' });
});

test('a row that came by a plain INSERT is taken as it is, unless only sealed ones are', async () => {
  for (const isSealedOnly of [false, true]) {
    const { tables, clock, startPod, row } = startFleet();
    await startPod('alder', { machines: [secretive], codec: codecOf('a'), isSealedOnly });
    const { taskId } = tables.insert({ machine: 'secretive', payload: '{"secret":"plain"}' });
    await clock.advance(5_000);
    const { status, error } = await row(taskId);
    expect(status).toBe(isSealedOnly ? 'failed' : 'completed');
    if (isSealedOnly) expect(error).toContain('FLEETQ_NOT_SEALED');
  }
});

test('whoever adopts its own runs, or takes them over, without their key gives them back', async () => {
  const { clock, startPod, row, history } = startFleet();
  const script = new Script();
  const machine = twoSteps(script);
  const options = { machines: [machine], around: script.around };
  const first = await startPod('alder', { ...options, codec: codecOf('a') });
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(3_000);
  expect(script.calls.at(-1)).toMatch(/^b\.work@/);
  const dataDir = first.crash();
  script.holds.clear();
  const keyless = await startPod('alder', { ...options, dataDir });
  await clock.advance(3_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'key' });
  // Not on its disk either: it comes with its history, which is sealed too.
  await clock.advance(120_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'key' });
  keyless.fleet.stopNow();
  await startPod('cedar', { ...options, codec: codecOf('b', 'a') });
  await clock.advance(70_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  // `check` was asked before the phase that was cut off, and nothing before it was done again.
  expect([script.count('a.work'), script.count('b.probe')]).toEqual([1, 1]);
  expect(await history(id)).toContain('INTERRUPTED');
});

test('a run goes on over a change of keys, and a redrive opens what both have written', async () => {
  const { clock, startPod, row, store } = startFleet();
  const script = new Script();
  const machine = sleeper(script, '1m');
  const options = { machines: [machine], around: script.around };
  const old = await startPod('alder', { ...options, codec: codecOf('a') });
  const { id } = await old.fleet.enqueue(machine, {});
  await clock.advance(5_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'sleep' });
  old.fleet.stopNow();
  script.throws.set('b.work', () => abort('no'));
  await startPod('birch', { ...options, codec: codecOf('b', 'a') });
  await clock.advance(70_000);
  expect(await row(id)).toMatchObject({ status: 'failed' });
  script.throws.clear();
  await store.act({
    ...{ requestId: 'again', who: 'ada', via: 'test', task: id as RunId },
    deed: { what: 'redrive', isFresh: false },
  });
  await clock.advance(70_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 2 });
  expect(script.count('a.work')).toBe(1);
});

test('a cancel of a run that a pod holds brings its reason along', async () => {
  const { tables, clock, startPod, row } = startFleet();
  const script = new Script();
  const machine = twoSteps(script);
  const pod = { machines: [machine], around: script.around, codec: codecOf('a') };
  const { fleet } = await startPod('alder', pod);
  script.holds.set('a.work', never());
  const task = await fleet.enqueue(machine, {});
  await clock.advance(2_000);
  const asked = {
    ...{ requestId: 'no more', who: 'ada', via: 'test', task: task.id },
    deed: { what: 'cancel', reason: `because of ${CANARY}` },
  } as const;
  expect(await fleet.store.act(asked)).toMatchObject({ kind: 'requested', isRepeated: false });
  expect(await fleet.store.act(asked)).toMatchObject({ kind: 'requested', isRepeated: true });
  const reader = await fleet.store.openReader();
  const { rows } = await reader.audit({ task: task.id, countMax: 1 });
  expect(rows[0]?.detail).toContain(CANARY);
  expect(dump(tables)).not.toContain(CANARY);
  await clock.advance(5_000);
  expect((await row(task.id)).status).toBe('cancelled');
  await expect(whileAdvancing(clock, task.result())).rejects.toThrow(`because of ${CANARY}`);
  expect(dump(tables)).not.toContain(CANARY);
});
