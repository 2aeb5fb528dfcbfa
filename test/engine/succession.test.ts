/** Runs of a version that is no longer there: advanced, upgraded or blocked, in the next process. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineMachine, listen, type Machine } from '../../src/index.ts';
import { anyInput, gate, kinds, never, type Rig, useFleets } from '../support/fleets.ts';
import { crashImage } from '../support/temp-dir.ts';

const { open, hear, afterCrash, newDir } = useFleets();

/** What the handlers of all versions have been called with, in order. */
type Calls = string[];

interface Shape {
  readonly version: number;
  readonly steps: readonly string[];
  readonly calls: Calls;
  /** The step that never ends in the first process, in its work. */
  readonly stuck?: string;
  readonly hasCheck?: boolean;
  readonly upgrade?: unknown;
}

function line({ version, steps, calls, stuck, hasCheck, upgrade }: Shape): Machine<object> {
  return defineMachine({
    name: 'line',
    version,
    input: anyInput,
    upgrade: upgrade as undefined,
    steps: (empty) => {
      let longer = empty;
      for (const name of steps) {
        const say = (what: string, { idempotencyKey, attempt }: Called) =>
          void calls.push(`v${version} ${name}.${what} ${attempt} ${idempotencyKey.slice(0, 8)}`);
        longer = longer.step(name as 'a', {
          check: hasCheck ? (context) => say('check', context) : 'none',
          work: (context): Promise<string> | string => {
            say('work', context);
            const isStuck = stuck === name && context.fencingToken === 1;
            return isStuck ? never() : `${name} by ${version}`;
          },
        }) as never;
      }
      return longer;
    },
  }) as never;
}
interface Called {
  readonly idempotencyKey: string;
  readonly attempt: number;
}

async function stuckIn(machine: Machine<object>): Promise<{ rig: Rig; id: string }> {
  const rig = await open({ machines: [machine] });
  const { id } = await rig.fleet.startLocal(machine as never, { id: 'x' });
  await rig.clock.settle();
  return { rig, id };
}

async function killedAndOpened(rig: Rig, ...machines: Machine<object>[]): Promise<Rig> {
  const next = await afterCrash(rig, { machines });
  await next.clock.settle();
  return next;
}

/** What a SIGKILL leaves right after the version of a run has changed, before anything else. */
async function killedAt(
  name: 'run.advanced' | 'run.upgraded',
  rig: Rig,
  machine: Machine<object>,
): Promise<Rig> {
  const dataDir = crashImage(rig.dataDir, newDir());
  let image: string | undefined;
  const stop = listen(name, () => {
    image ??= crashImage(dataDir, newDir());
  });
  const { fleet, clock } = await open({ machines: [machine], dataDir, clock: rig.clock });
  await clock.settle();
  stop();
  fleet.stopNow();
  return { fleet, clock, dataDir: image! };
}

test('a killed run advances to a longer line, counts its interruption, and keeps its key', async () => {
  const [advanced, calls] = [hear('run.advanced'), [] as Calls];
  const { rig, id } = await stuckIn(line({ version: 1, steps: ['a', 'b'], calls, stuck: 'b' }));
  const { fleet } = await killedAndOpened(rig, line({ version: 2, steps: ['a', 'b', 'c'], calls }));
  expect(kinds(fleet, id)).toEqual(['STARTED', 'DONE', 'ADVANCED', 'INTERRUPTED', 'DONE', 'DONE']);
  const described = { version: 2, status: 'completed', output: 'c by 2' };
  expect(fleet.describe(id)).toMatchObject(described);
  expect(advanced).toEqual([
    { run: id, machine: 'line', version: 2, epoch: 2, from: 1, state: 'b.work' },
  ]);
  expect(calls.map((call) => call.split(' ').slice(0, 3).join(' '))).toEqual([
    'v1 a.work 1',
    'v1 b.work 1',
    'v2 b.work 2',
    'v2 c.work 1',
  ]);
  expect(calls[2]!.split(' ')[3]).toBe(calls[1]!.split(' ')[3]);
  expect(fleet.events(id)[2]!.event).toMatchObject({ version: 2, interruption: 'cut' });
});

test('a killed run that advances asks check before it works again', async () => {
  const calls: Calls = [];
  const shape = { steps: ['a'], calls, hasCheck: true };
  const { rig, id } = await stuckIn(line({ ...shape, version: 1, stuck: 'a' }));
  const { fleet } = await killedAndOpened(rig, line({ ...shape, version: 2, steps: ['a', 'b'] }));
  expect(kinds(fleet, id).slice(0, 5)).toEqual([
    'STARTED',
    'DONE',
    'ADVANCED',
    'INTERRUPTED',
    'PROBED',
  ]);
  expect(calls.slice(0, 4).map((call) => call.slice(0, 12).trim())).toEqual(
    ['v1 a.check 1', 'v1 a.work 1', 'v2 a.check 2', 'v2 a.work 2'].map((call) => call.slice(0, 12)),
  );
});

test('a process that dies right after ADVANCED loses neither the version nor the interruption', async () => {
  const calls: Calls = [];
  const { rig, id } = await stuckIn(line({ version: 1, steps: ['a'], calls, stuck: 'a' }));
  const two = line({ version: 2, steps: ['a', 'b'], calls });
  const second = await killedAt('run.advanced', rig, two);
  calls.length = 1;
  const third = await killedAndOpened(second, two);
  expect(kinds(third.fleet, id)).toEqual(['STARTED', 'ADVANCED', 'INTERRUPTED', 'DONE', 'DONE']);
  expect(calls.map((call) => call.slice(0, 11))).toEqual([
    'v1 a.work 1',
    'v2 a.work 2',
    'v2 b.work 1',
  ]);
});

test('after an advance a process with only the older version leaves the run alone, and says why', async () => {
  const calls: Calls = [];
  const one = line({ version: 1, steps: ['a', 'b'], calls, stuck: 'a' });
  const two = line({ version: 2, steps: ['a', 'b', 'c'], calls });
  const { rig, id } = await stuckIn(one);
  const second = await killedAt('run.advanced', rig, two);
  const back = await killedAndOpened(second, one);
  expect(back.fleet.describe(id)).toMatchObject({
    status: 'blocked',
    version: 2,
    reason:
      'no machine line@2 is registered here, and line@1 is older: no run goes back to an older version',
  });
  const again = await killedAndOpened(back, one, two);
  expect(again.fleet.describe(id)).toMatchObject({ status: 'completed', output: 'c by 2' });
});

test('an upgrade carries input and outputs over, and begins the step anew', async () => {
  const [upgraded, calls, seen] = [hear('run.upgraded'), [] as Calls, [] as object[]];
  const one = line({ version: 1, steps: ['old', 'b'], calls, stuck: 'b' });
  const { rig, id } = await stuckIn(one);
  const two = defineMachine({
    name: 'line',
    version: 2,
    input: z.object({ name: z.string() }),
    steps: (empty) =>
      empty.step('a', { check: 'none', output: z.string(), work: () => 'never called' }).step('b', {
        check: 'none',
        work: ({ input, state, attempt, idempotencyKey }) => {
          calls.push(`v2 b.work ${attempt} ${idempotencyKey.slice(0, 8)}`);
          return `${input.name}, ${state.a}`;
        },
      }),
    upgrade: {
      1: (old) => {
        const { version, at, attempt, input, state } = old;
        seen.push({ version, at, attempt, input, state });
        const { id: name } = z.object({ id: z.string() }).parse(input);
        return old.resumeAt('b', { input: { name }, state: { a: String(state['old']) } });
      },
    },
  });
  const { fleet } = await killedAndOpened(rig, two as never);
  expect(seen).toEqual([
    {
      version: 1,
      at: { step: 'b', phase: 'work' },
      attempt: 1,
      input: { id: 'x' },
      state: { old: 'old by 1' },
    },
  ]);
  expect(kinds(fleet, id)).toEqual(['STARTED', 'DONE', 'UPGRADED', 'DONE']);
  expect(fleet.describe(id)).toMatchObject({
    version: 2,
    status: 'completed',
    output: 'x, old by 1',
    input: { name: 'x' },
  });
  expect(upgraded).toEqual([
    { run: id, machine: 'line', version: 2, epoch: 2, from: 1, state: 'b.work' },
  ]);
  expect(calls.at(-1)).toBe(calls[1]!.replace('v1', 'v2'));
});

test('an upgrade may begin the run anew, and wins over an advance that would fit', async () => {
  const calls: Calls = [];
  const { rig, id } = await stuckIn(line({ version: 1, steps: ['a', 'b'], calls, stuck: 'b' }));
  const upgrade = { 1: (old: { restart(input: object): unknown }) => old.restart({ id: 'new' }) };
  const two = line({ version: 2, steps: ['a', 'b', 'c'], calls, upgrade });
  const { fleet } = await killedAndOpened(rig, two);
  expect(kinds(fleet, id)).toEqual(['STARTED', 'DONE', 'UPGRADED', 'DONE', 'DONE', 'DONE']);
  expect(fleet.describe(id)).toMatchObject({ status: 'completed', input: { id: 'new' } });
});

test('an upgraded run goes on in processes that have never had the version it was born with', async () => {
  const calls: Calls = [];
  const { rig, id } = await stuckIn(line({ version: 1, steps: ['x'], calls, stuck: 'x' }));
  const upgrade = { 1: (old: { restart(input: object): unknown }) => old.restart({}) };
  const two = line({ version: 2, steps: ['a', 'b'], calls, upgrade });
  const second = await killedAt('run.upgraded', rig, two);
  calls.length = 1;
  const three = line({ version: 3, steps: ['a', 'b', 'c'], calls });
  const third = await killedAndOpened(second, three);
  expect(kinds(third.fleet, id)).toEqual([
    'STARTED',
    'UPGRADED',
    'ADVANCED',
    'DONE',
    'DONE',
    'DONE',
  ]);
  // Nothing of the new line had begun, so nothing of it was interrupted.
  expect(calls.slice(1).map((call) => call.slice(0, 11))).toEqual([
    'v3 a.work 1',
    'v3 b.work 1',
    'v3 c.work 1',
  ]);
  expect(third.fleet.describe(id)).toMatchObject({ version: 3, status: 'completed' });
});

const old = (act: (old: Record<string, (...given: unknown[]) => unknown>) => unknown) => ({
  1: act,
});
test.each([
  [
    'throws',
    old(() => {
      throw new Error('not these');
    }),
    /it threw Error: not these|not these/,
  ],
  ['returns nothing', old(() => undefined), /must return what old.resumeAt.* got undefined/],
  ['is asynchronous', old(async (run) => run['restart']!({})), /got /],
  [
    'names a step that is not there',
    old((run) => run['resumeAt']!('z', {})),
    /has no step "z".* it has a, b/,
  ],
  [
    'gives an unfit input',
    old((run) => run['restart']!({ id: 7 })),
    /the input of line does not fit/,
  ],
  [
    'leaves an output out',
    old((run) => run['resumeAt']!('b', { input: {}, state: {} })),
    /lacks "a"/,
  ],
  [
    'gives too many outputs',
    old((run) => run['resumeAt']!('a', { input: {}, state: { b: 1 } })),
    /has "b", which is no step/,
  ],
  [
    'gives what is not JSON',
    old((run) => run['resumeAt']!('b', { input: {}, state: { a: 1n } })),
    /state for "b"/,
  ],
])(
  'a run whose upgrade %s is blocked with the reason, and not failed',
  async (_, upgrade, reason) => {
    const calls: Calls = [];
    const { rig, id } = await stuckIn(line({ version: 1, steps: ['x'], calls, stuck: 'x' }));
    const two = line({ version: 2, steps: ['a', 'b'], calls, upgrade });
    const { fleet } = await killedAndOpened(rig, two);
    expect(fleet.describe(id)).toMatchObject({ status: 'blocked', version: 1 });
    expect(fleet.describe(id).reason).toMatch(/^the upgrade of line@2 from version 1 failed: /);
    expect(fleet.describe(id).reason).toMatch(reason);
    expect(kinds(fleet, id)).toEqual(['STARTED']);
    expect(calls).toHaveLength(1);
  },
);

test('a run that sleeps advances when it wakes, and is not called blocked before', async () => {
  const sleeper = (version: number, ...more: string[]) =>
    defineMachine({
      name: 'sleeper',
      version,
      input: anyInput,
      steps: (empty) => {
        const first = empty
          .sleep('nap', '1h')
          .step('a', { check: 'none', work: () => `by ${version}` });
        return more.reduce(
          (longer, name) => longer.step(name, { check: 'none', work: () => name }) as never,
          first,
        );
      },
    });
  const machine = sleeper(1);
  const first = await open({ machines: [machine] });
  const [one, two] = [
    await first.fleet.startLocal(machine, {}),
    await first.fleet.startLocal(machine, {}),
  ];
  await first.clock.settle();
  const second = await killedAndOpened(first, sleeper(2, 'b') as never);
  expect(second.fleet.describe(one.id)).toMatchObject({ status: 'waiting', version: 1 });
  expect(await second.fleet.runById(two.id).cancel()).toMatchObject({ isCancelled: true });
  expect(second.fleet.describe(two.id)).toMatchObject({ status: 'cancelled', version: 1 });
  await second.clock.advance(3_600_000);
  await second.clock.settle();
  expect(second.fleet.describe(one.id)).toMatchObject({
    status: 'completed',
    version: 2,
    output: 'b',
  });
  expect(kinds(second.fleet, one.id)).toEqual([
    'STARTED',
    'ASLEEP',
    'ADVANCED',
    'DONE',
    'DONE',
    'DONE',
  ]);
});

test('a cancel that comes while it is being found out who goes on waits for that', async () => {
  const answer = gate<boolean>();
  const calls: Calls = [];
  const { rig, id } = await stuckIn(line({ version: 1, steps: ['a'], calls, stuck: 'a' }));
  const slow = defineMachine({
    name: 'line',
    version: 2,
    input: anyInput.refine(() => answer.opened),
    steps: (empty) => empty.step('a', { check: 'none', work: () => never() }),
  });
  const { fleet, clock } = await killedAndOpened(rig, slow as never);
  const cancelled = fleet.runById(id).cancel('enough');
  await clock.settle();
  expect(fleet.describe(id).status).toBe('active');
  answer.open(true);
  expect(await cancelled).toMatchObject({ isCancelled: true });
  expect(kinds(fleet, id).filter((kind) => kind !== 'INTERRUPTED')).toEqual([
    'STARTED',
    'ADVANCED',
    'CANCELLED',
  ]);
  expect(fleet.describe(id)).toMatchObject({ status: 'cancelled', version: 2 });
});
