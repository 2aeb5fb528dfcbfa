/** What a handler is given besides its input. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { anyInput, gate, never, useFleets } from '../support/fleets.ts';

const { open, afterCrash, hear } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;

test('the idempotency key is one for each phase, step and run, and the same over retries and restarts', async () => {
  const keys: { readonly where: string; readonly key: string }[] = [];
  const note = (where: string) => (context: { runId: string; idempotencyKey: string }) => {
    keys.push({ where: `${context.runId} ${where}`, key: context.idempotencyKey });
  };
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'keyed',
    retry: { attemptMax: 9, backoff: () => 0 },
    steps: (line) =>
      line
        .step('a', {
          check: (context) => note('a check')(context),
          work: (context) => {
            note('a work')(context);
            if (context.attempt < 3) throw new Error('again');
            return 1;
          },
          validate: (context) => note('a validate')(context),
          persist: (context) => {
            note('a persist')(context);
            return 1;
          },
        })
        .step('b', {
          check: (context) => note('b check')(context),
          work: (context): Promise<number> | number => {
            note('b work')(context);
            return context.fencingToken === 1 ? never() : 2;
          },
        }),
  });
  const first = await open({ machines: [machine] });
  await first.fleet.startLocal(machine, {});
  await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  const byPlace = new Map<string, { readonly key: string }[]>();
  for (const { where, key } of keys) byPlace.set(where, [...(byPlace.get(where) ?? []), { key }]);
  expect(byPlace.size).toBe(12);
  for (const ofPlace of byPlace.values())
    expect(new Set(ofPlace.map(({ key }) => key)).size).toBe(1);
  expect(new Set(keys.map(({ key }) => key)).size).toBe(12);
  expect([...byPlace].find(([where]) => where.endsWith('a work'))?.[1]).toHaveLength(3);
  expect([...byPlace].find(([where]) => where.endsWith('b work'))?.[1]).toHaveLength(2);
});

test('the fencing token rises with every process that takes the run over', async () => {
  const tokens: number[] = [];
  const machine = defineMachine({
    ...head,
    name: 'fenced',
    work: ({ fencingToken }): Promise<number> | number => {
      tokens.push(fencingToken);
      return tokens.length < 3 ? never() : fencingToken;
    },
  });
  let rig = await open({ machines: [machine] });
  await rig.fleet.startLocal(machine, {});
  for (let crash = 0; crash < 2; crash++) {
    await rig.clock.settle();
    rig = await afterCrash(rig, { machines: [machine] });
  }
  await rig.clock.settle();
  expect(tokens).toEqual([1, 2, 3]);
});

test('use lets no more calls through at once than its API may have, and each gets its turn', async () => {
  let now = 0;
  let most = 0;
  const gates = Array.from({ length: 10 }, () => gate());
  let turn = 0;
  const machine = defineMachine({
    ...head,
    name: 'caller',
    work: ({ use }) =>
      use('geo', async () => {
        most = Math.max(most, ++now);
        await gates[turn++]!.opened;
        now--;
        return 1;
      }),
  });
  const { fleet, clock } = await open({ machines: [machine], apis: { geo: 3 } });
  const runs = await Promise.all(Array.from({ length: 10 }, () => fleet.startLocal(machine, {})));
  await clock.settle();
  expect(now).toBe(3);
  for (const { open: letGo } of gates) {
    letGo();
    await clock.settle();
  }
  await Promise.all(runs.map((run) => run.result()));
  expect(most).toBe(3);
});

test('a call that fails gives its place back, and one that is cancelled while it waits leaves the line', async () => {
  const hold = gate();
  const machine = defineMachine({
    ...head,
    name: 'line',
    retry: { attemptMax: 1 },
    work: ({ use, input }) =>
      use('geo', async () => {
        if (input.id === 'failing') throw new Error('no');
        await hold.opened;
        return input.id ?? '';
      }),
  });
  const { fleet, clock } = await open({ machines: [machine], apis: { geo: 1 } });
  const failing = await fleet.startLocal(machine, { id: 'failing' });
  await expect(failing.result()).rejects.toMatchObject({ outcome: 'exhausted' });
  const holder = await fleet.startLocal(machine, { id: 'holder' });
  const impatient = await fleet.startLocal(machine, { id: 'impatient' });
  const patient = await fleet.startLocal(machine, { id: 'patient' });
  await clock.settle();
  await impatient.cancel();
  hold.open();
  expect(await holder.result()).toBe('holder');
  expect(await patient.result()).toBe('patient');
});

test.each(['constructor', '__proto__', 'toString'])('an API may be called %s', async (api) => {
  const machine = defineMachine({ ...head, name: 'odd', work: ({ use }) => use(api, () => 1) });
  const { fleet } = await open({ machines: [machine], apis: { geo: 1 } });
  expect(await (await fleet.startLocal(machine, {})).result()).toBe(1);
});

test('progress is seen while the run goes on, within bounds, and told', async () => {
  const told = hear('run.progressed');
  const machine = defineMachine({
    ...head,
    name: 'loading',
    work: ({ progress }): Promise<number> => {
      progress(0.25, 'a quarter');
      progress(7);
      progress(Number.NaN, 'x'.repeat(9_999));
      progress(0.5, 'half');
      return never();
    },
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const { id } = await fleet.startLocal(machine, {});
  await clock.settle();
  expect(fleet.describe(id).progress).toEqual({ fraction: 0.5, note: 'half' });
  expect(told.map((event) => event.fraction)).toEqual([0.25, 1, 0, 0.5]);
  expect(told[2]?.note).toHaveLength(500);
});

test('a run gets the slots there are, first come, first served', async () => {
  const order: string[] = [];
  const holds = new Map<string, ReturnType<typeof gate<void>>>();
  const machine = defineMachine({
    ...head,
    name: 'queue',
    work: async ({ input }) => {
      order.push(input.id ?? '');
      const hold = gate();
      holds.set(input.id ?? '', hold);
      await hold.opened;
      return null;
    },
  });
  const { fleet, clock } = await open({ machines: [machine], slots: 2 });
  for (const id of ['a', 'b', 'c', 'd']) await fleet.startLocal(machine, { id });
  await clock.settle();
  expect(order).toEqual(['a', 'b']);
  expect(fleet.status).toMatchObject({ busy: 2, queued: 2 });
  holds.get('b')!.open();
  await clock.settle();
  expect(order).toEqual(['a', 'b', 'c']);
});
