/** Schemas that take their time, or never answer: every limit that holds for a phase holds for them. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { anyInput, gate, kinds, never, useFleets } from '../support/fleets.ts';

const { open, hear } = useFleets();
const GRACE_MS = 5_000;
type Answer = { readonly value: unknown };

/** A schema that asks `answer` each time it is used: undefined takes the value at once. */
function asking(answer: () => Promise<Answer> | undefined): StandardSchemaV1<unknown, unknown> {
  const validate = (value: unknown) => answer() ?? { value };
  return { '~standard': { version: 1, vendor: 'test', validate } } as never;
}

/** Fits at once at the start, and then never answers. */
function hangingOnce() {
  let calls = 0;
  return asking(() => (++calls === 1 ? Promise.resolve({ value: new Date(0) }) : never()));
}

const head = { version: 1, check: 'none', retry: { attemptMax: 1 } } as const;
const quick = defineMachine({ ...head, name: 'quick', input: anyInput, work: () => 1 });

test.each([
  [
    'its timeout',
    { work: '1s' },
    { outcome: 'exhausted', error: { code: 'FLEETQ_PHASE_TIMEOUT' } },
  ],
  ['the deadline of the run', { run: '1s' }, { outcome: 'timedOut' }],
] as const)(
  'an output schema that never answers is given up at %s, and the slot comes free',
  async (_what, timeout, ending) => {
    const ended = hear('phase.ended');
    const machine = defineMachine({
      ...head,
      name: 'hangs-out',
      input: anyInput,
      timeout,
      output: asking(never),
      work: () => 1,
    });
    const { fleet, clock } = await open({ machines: [machine, quick], slots: 1 });
    const run = await fleet.startLocal(machine, {});
    await clock.advance(1_000 + GRACE_MS);
    expect(fleet.describe(run.id)).toMatchObject({ ...ending, state: 'main.work' });
    expect(fleet.status.busy).toBe(0);
    expect(ended).toHaveLength(1);
    expect(await (await fleet.startLocal(quick, {})).result()).toBe(1);
  },
);

test('a cancel ends a run whose output schema never answers, and the slot comes free', async () => {
  const machine = defineMachine({
    ...head,
    name: 'hangs-out',
    input: anyInput,
    output: asking(never),
    work: () => 1,
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  expect(await run.cancel('enough')).toEqual({ isCancelled: true, outcome: 'cancelled' });
  await clock.advance(GRACE_MS);
  expect(fleet.status.busy).toBe(0);
});

test.each([0, GRACE_MS])(
  'an answer of an output schema %i ms after the timeout counts for nothing',
  async (lateMs) => {
    const [answer, quarantined] = [gate<Answer>(), hear('run.quarantined')];
    const machine = defineMachine({
      ...head,
      name: 'late-out',
      input: anyInput,
      timeout: { work: '1s' },
      output: asking(() => answer.opened),
      work: () => 1,
    });
    const { fleet, clock } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await clock.advance(1_000 + lateMs);
    answer.open({ value: 1 });
    await clock.settle();
    expect(kinds(fleet, run.id)).toEqual(['STARTED', 'EXHAUSTED']);
    expect([fleet.status.busy, quarantined]).toEqual([0, []]);
  },
);

test('an output schema that answers in time is waited for', async () => {
  const answer = gate<Answer>();
  const machine = defineMachine({
    ...head,
    name: 'slow-out',
    input: anyInput,
    timeout: { work: '1s' },
    output: asking(() => answer.opened),
    work: () => 'made',
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(999);
  answer.open({ value: 'made' });
  expect(await run.result()).toBe('made');
});

test('a drain does not forget what was done while a schema looks at it', async () => {
  const answer = gate<Answer>();
  const machine = defineMachine({
    ...head,
    name: 'drained-out',
    input: anyInput,
    output: asking(() => answer.opened),
    work: () => 'made',
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  const ended = expect(run.result()).resolves.toBe('made');
  const draining = fleet.drain({ budget: '10s' });
  await clock.advance(8_000);
  answer.open({ value: 'made' });
  await ended;
  await clock.advance(1_000);
  expect(await draining).toEqual({ unfinished: 0, interrupted: 0 });
});

test.each([
  [
    'its timeout',
    { work: '1s' },
    { outcome: 'exhausted', error: { code: 'FLEETQ_PHASE_TIMEOUT' } },
  ],
  ['the deadline of the run', { run: '1s' }, { outcome: 'timedOut' }],
] as const)(
  'an input schema that never answers is given up at %s, and the slot comes free',
  async (_what, timeout, ending) => {
    let works = 0;
    const machine = defineMachine({
      ...head,
      name: 'hangs-in',
      input: hangingOnce(),
      timeout,
      work: () => ++works,
    });
    const { fleet, clock } = await open({ machines: [machine], slots: 1 });
    const run = await fleet.startLocal(machine, {});
    await clock.advance(999);
    expect([fleet.status.busy, kinds(fleet, run.id)]).toEqual([1, ['STARTED']]);
    await clock.advance(1);
    expect(fleet.describe(run.id)).toMatchObject({ ...ending, state: 'main.work' });
    expect([fleet.status.busy, works]).toEqual([0, 0]);
  },
);

test('a cancel ends a run whose input schema never answers, and a late answer begins nothing', async () => {
  let [calls, works] = [0, 0];
  const answer = gate<Answer>();
  const machine = defineMachine({
    ...head,
    name: 'late-in',
    input: asking(() => (++calls === 1 ? Promise.resolve({ value: new Date(0) }) : answer.opened)),
    work: () => ++works,
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  expect(await run.cancel('enough')).toEqual({ isCancelled: true, outcome: 'cancelled' });
  await clock.settle();
  expect(fleet.status.busy).toBe(0);
  answer.open({ value: new Date(0) });
  await clock.settle();
  expect([works, kinds(fleet, run.id)]).toEqual([0, ['STARTED', 'CANCELLED']]);
});

test('the deadline of a run ends it where the length of a sleep waits for a schema', async () => {
  const machine = defineMachine({
    version: 1,
    name: 'hangs-asleep',
    input: hangingOnce(),
    timeout: { run: '1s' },
    steps: (line) => line.sleep('nap', () => '1s').step('day', { check: 'none', work: () => 1 }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(1_000);
  expect(fleet.describe(run.id)).toMatchObject({ outcome: 'timedOut', state: 'nap.sleep' });
  expect(fleet.status.busy).toBe(0);
});

test('a sleep of a given length asks no schema, neither before it nor when it is over', async () => {
  let calls = 0;
  const machine = defineMachine({
    version: 1,
    name: 'quiet',
    input: asking(() => (++calls === 1 ? Promise.resolve({ value: new Date(0) }) : undefined)),
    steps: (line) => line.sleep('nap', '1h').step('day', { check: 'none', work: () => calls }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(3_600_000);
  expect(await run.result()).toBe(2);
});

test('a drain does not wait for an input schema, and begins no phase when it answers', async () => {
  let [calls, works] = [0, 0];
  const answer = gate<Answer>();
  const machine = defineMachine({
    ...head,
    name: 'drained-in',
    input: asking(() => (++calls === 1 ? Promise.resolve({ value: new Date(0) }) : answer.opened)),
    work: () => ++works,
  });
  const { fleet, clock } = await open({ machines: [machine] });
  await fleet.startLocal(machine, {});
  await clock.settle();
  const draining = fleet.drain({ budget: '10s' });
  await clock.advance(1);
  answer.open({ value: new Date(0) });
  await clock.settle();
  expect(await draining).toEqual({ unfinished: 1, interrupted: 0 });
  expect(works).toBe(0);
});

test('a start whose input schema never answers is refused after ten seconds', async () => {
  const machine = defineMachine({ ...head, name: 'no-start', input: asking(never), work: () => 1 });
  const { fleet, clock } = await open({ machines: [machine] });
  const refused = expect(fleet.startLocal(machine, {})).rejects.toMatchObject({
    code: 'FLEETQ_SCHEMA',
    message: expect.stringContaining('the schema has not answered within 10000 ms'),
  });
  await clock.advance(10_000);
  await refused;
  expect(fleet.runs({ countMax: 1 })).toEqual([]);
});
