/** Every unfinished run goes on in the next process, and a bad one harms nobody else. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineMachine, listen } from '../../src/index.ts';
import { anyInput, kinds, never, useFleets } from '../support/fleets.ts';

const { open, hear } = useFleets();

/** Waits in `work` in its first process. */
function waiting(name: string, input: z.ZodType<{ id?: string | undefined }> = anyInput) {
  return defineMachine({
    version: 1,
    input,
    name,
    check: 'none',
    work: ({ fencingToken }): Promise<string> | string => (fencingToken === 1 ? never() : name),
  });
}

test('all unfinished runs are taken up, with the machine and version each was born with', async () => {
  const versioned = (version: number) =>
    defineMachine({
      version,
      input: anyInput,
      name: 'grown',
      check: 'none',
      work: ({ fencingToken }): Promise<string> | string =>
        fencingToken === 1 ? never() : `version ${version}`,
    });
  const machines = [versioned(1), versioned(2), waiting('grown/further')];
  const first = await open({ machines });
  const runs = [];
  for (const machine of machines) runs.push(await first.fleet.startLocal(machine, {}));
  await first.clock.settle();
  first.fleet.stopNow();
  const second = await open({ machines, dataDir: first.dataDir, clock: first.clock });
  await second.clock.settle();
  expect(runs.map((run) => second.fleet.describe(run.id).output)).toEqual([
    'version 1',
    'version 2',
    'grown/further',
  ]);
});

test('each goes on where it stood, also beside another of its machine', async () => {
  const calls: string[] = [];
  const machine = defineMachine({
    version: 1,
    input: anyInput,
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
  first.fleet.stopNow();
  const { clock } = await open({
    machines: [machine],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await clock.settle();
  expect(calls.sort()).toEqual(['a ahead', 'a behind', 'b ahead', 'b behind']);
});

test('one damaged, one of an unknown machine and one whose schema refuses it now leave the others alone', async () => {
  const quarantined = hear('run.quarantined');
  const blocked = hear('run.blocked');
  const [good, gone] = [waiting('good'), waiting('gone')];
  const strict = waiting('strict');
  const first = await open({ machines: [good, gone, strict] });
  const ids: string[] = [];
  for (const machine of [good, good, gone, strict, good])
    ids.push((await first.fleet.startLocal(machine, { id: 'x' })).id);
  const [damaged, ...rest] = ids as [string, string, string, string, string];
  await first.clock.settle();
  first.fleet.stopNow();
  const file = new Database(join(first.dataDir, 'journal.db'));
  const trigger = file
    .prepare("select sql from sqlite_master where name = 'events_are_final'")
    .pluck()
    .get() as string;
  file.exec('drop trigger events_are_final');
  file.prepare("update events set data = replace(data, 'x', 'y') where run = ?").run(damaged);
  file.exec(trigger);
  file.close();

  const stricter = waiting('strict', z.object({ id: z.literal('z') }) as never);
  const second = await open({
    machines: [good, stricter],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await second.clock.settle();
  const { fleet } = second;
  expect(fleet.describe(rest[0])).toMatchObject({ status: 'completed', output: 'good' });
  expect(fleet.describe(rest[3])).toMatchObject({ status: 'completed', output: 'good' });
  expect(fleet.describe(rest[1])).toMatchObject({
    status: 'blocked',
    reason: 'no machine gone@1 is registered here',
  });
  expect(fleet.describe(rest[2]).status).toBe('quarantined');
  expect(quarantined.map((event) => event.run).sort()).toEqual([damaged, rest[2]].sort());
  expect(blocked.map((event) => event.run)).toEqual([rest[1]]);
  for (const id of [rest[1], rest[2]]) {
    const waitingFor = fleet.runById(id).result();
    await expect(waitingFor).rejects.toMatchObject({ code: 'FLEETQ_RUN_SET_ASIDE' });
  }
  // The blocked one loses nothing: a process that has its machine goes on with it.
  fleet.stopNow();
  const third = await open({
    machines: [good, gone, strict],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await third.clock.settle();
  expect(third.fleet.describe(rest[1])).toMatchObject({ status: 'completed', output: 'gone' });
  expect(third.fleet.describe(rest[2])).toMatchObject({ status: 'completed', output: 'strict' });
});

test('a run that a schema refused is not punished for it when the schema is put right', async () => {
  const machine = (input: z.ZodType<{ id?: string | undefined }>) =>
    defineMachine({
      version: 1,
      input,
      name: 'patient',
      retry: { attemptMax: 1 },
      steps: (line) => line.sleep('nap', '1m').step('work', { check: 'none', work: () => 'done' }),
    });
  const first = await open({ machines: [machine(anyInput)] });
  const { id } = await first.fleet.startByName('patient', { id: 'x' });
  await first.clock.settle();
  first.fleet.stopNow();
  const refusing = machine(z.object({ id: z.literal('z') }) as never);
  const second = await open({ machines: [refusing], dataDir: first.dataDir, clock: first.clock });
  await second.clock.advance(120_000);
  expect(second.fleet.describe(id).status).toBe('quarantined');
  second.fleet.stopNow();
  const third = await open({
    machines: [machine(anyInput)],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await third.clock.settle();
  expect(third.fleet.describe(id)).toMatchObject({ status: 'completed', output: 'done' });
});

test('a run that stands still because of its schema can be cancelled', async () => {
  const first = await open({ machines: [waiting('stuck')] });
  const { id } = await first.fleet.startByName('stuck', { id: 'x' });
  await first.clock.settle();
  first.fleet.stopNow();
  const refusing = waiting('stuck', z.object({ id: z.literal('z') }) as never);
  const { fleet, clock } = await open({
    machines: [refusing],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await clock.settle();
  expect(await fleet.runById(id).cancel('give up')).toMatchObject({ outcome: 'cancelled' });
  expect(fleet.describe(id)).toMatchObject({ status: 'cancelled', reason: 'give up' });
});

test('a definition that does not fit the records is refused, and nothing is guessed', async () => {
  const before = defineMachine({
    version: 1,
    input: anyInput,
    name: 'changed',
    steps: (line) =>
      line
        .step('a', { check: 'none', work: () => 1 })
        .step('b', { check: 'none', work: () => never() as Promise<number> }),
  });
  const after = defineMachine({
    version: 1,
    input: anyInput,
    name: 'changed',
    steps: (line) =>
      line.step('a', { check: 'none', work: () => 1 }).step('c', { check: 'none', work: () => 3 }),
  });
  const first = await open({ machines: [before] });
  const { id } = await first.fleet.startByName('changed', {});
  await first.clock.settle();
  first.fleet.stopNow();
  const { fleet, clock } = await open({
    machines: [after],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await clock.settle();
  expect(fleet.describe(id)).toMatchObject({ status: 'blocked' });
  expect(fleet.describe(id).reason).toMatch(/leads to b.work/);
  expect(kinds(fleet, id)).toEqual(['STARTED', 'DONE']);
});

test('runs that were queued when the process died still wait for the slots there are', async () => {
  let now = 0;
  let most = 0;
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'busy',
    check: 'none',
    work: async ({ fencingToken }) => {
      if (fencingToken === 1) return never();
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      return 1;
    },
  });
  const first = await open({ machines: [machine], slots: 3 });
  await Promise.all(Array.from({ length: 60 }, () => first.fleet.startLocal(machine, {})));
  first.fleet.stopNow();
  const second = await open({
    machines: [machine],
    slots: 3,
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await second.clock.settle();
  expect(second.fleet.runs({ status: 'completed', countMax: 100 })).toHaveLength(60);
  expect(most).toBe(3);
});

test('while many are still being read, few of them are executed; then as many as there are slots', async () => {
  const stuck = defineMachine({
    version: 1,
    input: anyInput,
    name: 'stuck',
    check: 'none',
    work: () => never(),
  });
  const options = { machines: [stuck], slots: 700 };
  const first = await open(options);
  for (let count = 0; count < 700; count += 1) await first.fleet.startLocal(stuck, {});
  await first.clock.settle();
  first.fleet.stopNow();
  const [resumed, started] = [hear('run.resumed'), hear('phase.started')];
  /** How many were in a phase each time that one more had been read. */
  const busy: number[] = [];
  const stop = listen('run.resumed', () => busy.push(started.length));
  const second = await open({ ...options, dataDir: first.dataDir, clock: first.clock });
  await second.clock.settle();
  stop();
  expect(resumed).toHaveLength(700);
  expect(Math.max(...busy)).toBeGreaterThan(0);
  expect(Math.max(...busy)).toBeLessThanOrEqual(50);
  expect(started).toHaveLength(700);
});

test('a record that reads as something nobody expects sets its run aside, and no other', async () => {
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'odd',
    check: 'none',
    work: ({ input }) => `made by ${input.id}`,
    persist: ({ work, fencingToken }): Promise<string> | string =>
      fencingToken === 1 ? never() : work,
  });
  const first = await open({ machines: [machine] });
  const bad = await first.fleet.startLocal(machine, { id: 'bad' });
  const good = await first.fleet.startLocal(machine, { id: 'good' });
  await first.clock.settle();
  first.fleet.stopNow();
  // As by a key that decrypts to nonsense: the hash is over what is on disk, and fits.
  const codec = {
    encode: (text: string) => text,
    decode: (text: string) => (text.includes('made by bad') ? 'null' : text),
  };
  const { fleet, clock } = await open({
    machines: [machine],
    dataDir: first.dataDir,
    clock: first.clock,
    codec,
  });
  await clock.settle();
  expect(fleet.describe(good.id).output).toBe('made by good');
  expect(fleet.describe(bad.id).status).toBe('quarantined');
});

test('a run that sleeps and whose machine this process does not have is shown as blocked', async () => {
  const sleeper = defineMachine({
    version: 1,
    input: anyInput,
    name: 'sleeper',
    steps: (line) => line.sleep('night', '8h').step('day', { check: 'none', work: () => 'up' }),
  });
  const first = await open({ machines: [sleeper] });
  const { id } = await first.fleet.startLocal(sleeper, {});
  await first.clock.settle();
  expect(first.fleet.describe(id).status).toBe('waiting');
  first.fleet.stopNow();
  const without = await open({
    machines: [waiting('other')],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  const blocked = { status: 'blocked', reason: 'no machine sleeper@1 is registered here' };
  expect(without.fleet.describe(id)).toMatchObject(blocked);
  expect(without.fleet.runs({ countMax: 5 })).toMatchObject([blocked]);
  without.fleet.stopNow();
  const { fleet, clock } = await open({
    machines: [sleeper],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  expect(fleet.describe(id).status).toBe('waiting');
  await clock.advance(9 * 3_600_000);
  expect(fleet.describe(id).status).toBe('completed');
});
