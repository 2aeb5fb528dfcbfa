/** Handlers that do what handlers do at three in the morning. Each has one defined outcome. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineMachine, handoff } from '../../src/index.ts';
import { anyInput, kinds, useFleets } from '../support/fleets.ts';

const { open, afterCrash, hear } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;
const once = { retry: { attemptMax: 1 } } as const;

const circular: { self?: unknown } = {};
circular.self = circular;
const circularError = new Error('goes round');
circularError.cause = circularError;
const hostileGetters = Object.defineProperty(new Error('x'), 'message', {
  get: () => {
    throw new Error('no message for you');
  },
});
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

test.each([
  ['undefined', undefined, /undefined/],
  ['null', null, /null/],
  ['a text', 'oops', /oops/],
  ['a frozen error', Object.freeze(new Error('frozen')), /frozen/],
  ['a circular object', circular, /threw/],
  ['an error that is its own cause', circularError, /goes round/],
  ['an error whose getters throw', hostileGetters, /^$/],
  ['a bigint', 10n, /10n/],
  ['a symbol', Symbol('s'), /Symbol\(s\)/],
  ['a function', function oops() {}, /oops/],
  ['a revoked proxy', revoked, /./],
])(
  'a handler that throws %s has failed, and the error can be read',
  async (_what, thrown, message) => {
    const quarantined = hear('run.quarantined');
    const machine = defineMachine({
      ...head,
      ...once,
      name: 'throwing',
      work: (): string => {
        throw thrown;
      },
    });
    const { fleet } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
    expect(fleet.describe(run.id).error?.message).toMatch(message);
    expect(quarantined).toEqual([]);
  },
);

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;

test.each([
  ['a bigint', { n: 1n }, 'FLEETQ_NOT_JSON', /a bigint is not JSON/],
  ['a Map', new Map(), 'FLEETQ_NOT_JSON', /a Map or Set is not JSON/],
  ['a cycle', cyclic, 'FLEETQ_NOT_JSON', /contains itself/],
  ['a function', { act: () => 1 }, 'FLEETQ_NOT_JSON', /a function is not JSON/],
  ['a Date', { at: new Date(0) }, 'FLEETQ_NOT_JSON', /a Date is not JSON/],
  ['NaN', { n: Number.NaN }, 'FLEETQ_NOT_JSON', /NaN is not JSON/],
  ['100 MB', 'x'.repeat(100_000_000), 'FLEETQ_TOO_LARGE', /limit of 1048576 bytes/],
  ['1 MiB and a byte', 'x'.repeat(1024 * 1024 - 1), 'FLEETQ_TOO_LARGE', /limit of 1048576 bytes/],
] as const)(
  'a result that is %s is refused at once, with a word on what is wrong',
  async (_what, value, _code, reason) => {
    let calls = 0;
    const machine = defineMachine({
      ...head,
      name: 'returning',
      work: () => {
        calls++;
        return value as never;
      },
    });
    const { fleet } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await expect(run.result()).rejects.toMatchObject({ outcome: 'aborted', kind: 'system' });
    expect(fleet.describe(run.id).reason).toMatch(reason);
    expect(calls).toBe(1);
  },
);

test('a result of exactly the limit is taken', async () => {
  const text = 'x'.repeat(1024 * 1024 - 2);
  const machine = defineMachine({ ...head, name: 'full', work: () => text });
  const { fleet } = await open({ machines: [machine] });
  expect(await (await fleet.startLocal(machine, {})).result()).toHaveLength(text.length);
});

test('nothing is null: a handler without a result completes', async () => {
  const machine = defineMachine({ ...head, name: 'nothing', work: () => undefined });
  const { fleet } = await open({ machines: [machine] });
  expect(await (await fleet.startLocal(machine, {})).result()).toBeNull();
});

test.each([false, true, 0, 'ok', null])(
  'a validate that returns %s instead of throwing is a mistake that ends the run',
  async (value) => {
    const machine = defineMachine({
      ...head,
      name: 'validating',
      work: () => 1,
      validate: () => value as never,
    });
    const { fleet } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await expect(run.result()).rejects.toMatchObject({
      outcome: 'aborted',
      state: 'main.validate',
    });
    expect(fleet.describe(run.id).reason).toContain('validate throws to reject');
  },
);

test.each([true, 'there', { output: 1 }])(
  'a check that returns the bare value %j is a mistake that ends the run',
  async (value) => {
    const machine = defineMachine({
      ...head,
      name: 'checking',
      check: () => value as never,
      work: () => 1,
    });
    const { fleet } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await expect(run.result()).rejects.toMatchObject({ outcome: 'aborted', state: 'main.check' });
    expect(fleet.describe(run.id).reason).toContain('check returns handoff(…) or nothing');
  },
);

test('a promise that settles twice counts once', async () => {
  const machine = defineMachine({
    ...head,
    name: 'twice',
    work: () =>
      ({
        // biome-ignore lint/suspicious/noThenProperty: a promise of another kind, and a rude one.
        then(resolve: (value: string) => void, reject: (error: Error) => void) {
          resolve('first');
          reject(new Error('second'));
          resolve('third');
        },
      }) as Promise<string>,
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  expect(await run.result()).toBe('first');
  expect(kinds(fleet, run.id)).toEqual(['STARTED', 'DONE']);
});

test('a thenable whose then throws has failed', async () => {
  const machine = defineMachine({
    ...head,
    ...once,
    name: 'bad-then',
    work: () =>
      Object.defineProperty({}, 'then', {
        get: () => {
          throw new Error('do not wait for me');
        },
      }) as Promise<string>,
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await expect(run.result()).rejects.toMatchObject({ error: { message: 'do not wait for me' } });
});

const mutable = z.object({ list: z.array(z.number()), when: z.coerce.date().optional() });
type Seen = { readonly input: string; readonly made: string; readonly first: string };

/** Tries to change all it is given in every phase, and tells what each phase saw. */
function vandal(seen: Seen[], withDate: boolean) {
  const look = (context: object) => {
    const { input, state, work } = context as Record<string, unknown>;
    seen.push({
      input: JSON.stringify((input as { list: unknown }).list),
      made: JSON.stringify(work),
      first: JSON.stringify(state),
    });
    const spoil = (target: unknown) => {
      try {
        (target as { list: number[] }).list.push(99);
      } catch {
        // It is frozen, or has no list.
      }
    };
    spoil(input);
    spoil(work);
    spoil((state as Record<string, unknown>)['first']);
  };
  return {
    when: withDate ? '2030-01-01' : undefined,
    machine: defineMachine({
      version: 1,
      input: mutable,
      name: 'vandal',
      retry: { attemptMax: 20, backoff: () => 0 },
      steps: (line) =>
        line
          .step('first', {
            check: look,
            work: (context) => {
              look(context);
              return { list: [1] };
            },
            validate: look,
          })
          .step('second', {
            check: look,
            work: (context) => {
              look(context);
              return { list: [2] };
            },
            validate: look,
            persist: (context) => {
              look(context);
              return context.work;
            },
          }),
    }),
  };
}

test.each([false, true])(
  'a handler that changes what it was given changes nothing for the next phase (with a Date: %s)',
  async (withDate) => {
    const seen: Seen[] = [];
    const { machine, when } = vandal(seen, withDate);
    const { fleet } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, { list: [0], when });
    expect(await run.result()).toEqual({ list: [2] });
    const first = '{"list":[1]}';
    expect(seen).toEqual([
      { input: '[0]', made: undefined, first: '{}' },
      { input: '[0]', made: undefined, first: '{}' },
      { input: '[0]', made: first, first: '{}' },
      { input: '[0]', made: undefined, first: `{"first":${first}}` },
      { input: '[0]', made: undefined, first: `{"first":${first}}` },
      { input: '[0]', made: '{"list":[2]}', first: `{"first":${first}}` },
      { input: '[0]', made: '{"list":[2]}', first: `{"first":${first}}` },
    ]);
  },
);

test('what a handler returned is what it was when it returned it', async () => {
  const kept: { list: number[] }[] = [];
  const machine = defineMachine({
    ...head,
    name: 'afterthought',
    work: () => {
      const result = { list: [1] };
      kept.push(result);
      return result;
    },
    persist: ({ work }) => {
      kept[0]?.list.push(2);
      return work;
    },
  });
  const { fleet } = await open({ machines: [machine] });
  expect(await (await fleet.startLocal(machine, {})).result()).toEqual({ list: [1] });
});

test('a phase sees the same after a restart as before it', async () => {
  const seen: string[] = [];
  const machine = defineMachine({
    version: 1,
    input: z.object({ when: z.coerce.date(), tags: z.array(z.string()).default(['none']) }),
    name: 'same-view',
    check: 'none',
    work: ({ input }) => ({ at: input.when.toISOString(), none: undefined, tags: input.tags }),
    persist: ({ input, work, fencingToken }): Promise<null> | null => {
      seen.push(JSON.stringify({ input, work, isDate: input.when instanceof Date }));
      return fencingToken === 1 ? new Promise(() => undefined) : null;
    },
  });
  const first = await open({ machines: [machine] });
  await first.fleet.startLocal(machine, { when: '2030-01-01' });
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.settle();
  expect(seen).toHaveLength(2);
  expect(seen[1]).toBe(seen[0]);
  expect(seen[0]).toContain('"isDate":true');
});

test('an input that is not JSON, too large or not what the schema wants is refused at the door', async () => {
  const machine = defineMachine({ ...head, name: 'choosy', work: () => 1 });
  const { fleet } = await open({ machines: [machine] });
  const start = (input: unknown) => fleet.startLocal(machine, input as never);
  await expect(start({ id: 1 })).rejects.toMatchObject({ code: 'FLEETQ_SCHEMA' });
  await expect(start({ id: 1n })).rejects.toMatchObject({ code: 'FLEETQ_NOT_JSON' });
  const large = { id: 'x'.repeat(2_000_000) };
  await expect(start(large)).rejects.toMatchObject({ code: 'FLEETQ_TOO_LARGE' });
  expect(fleet.runs({ countMax: 10 })).toEqual([]);
});

test('an output that its schema refuses is not recorded as a result', async () => {
  const machine = defineMachine({
    ...head,
    ...once,
    name: 'wrong-output',
    output: z.object({ n: z.number() }),
    work: () => ({ n: 'one' }) as never,
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await expect(run.result()).rejects.toThrow(/the output of main.work/);
});

test('a handoff whose reason is endless is cut, and one that is not JSON is refused', async () => {
  const machine = defineMachine({
    ...head,
    name: 'talkative',
    check: ({ input }) =>
      input.id === 'long' ? handoff(1, 'x'.repeat(5_000_000)) : handoff((() => 1) as never),
    work: () => 1,
  });
  const { fleet } = await open({ machines: [machine] });
  const long = await fleet.startLocal(machine, { id: 'long' });
  expect(await long.result()).toBe(1);
  expect(fleet.describe(long.id).reason?.length).toBeLessThan(10_000);
  const odd = await fleet.startLocal(machine, { id: 'odd' });
  await expect(odd.result()).rejects.toMatchObject({ outcome: 'aborted' });
});
