/** What is said aloud while runs go their way, and the port that wraps every phase. */
import { expect, test } from 'vitest';
import { type Around, defineMachine } from '../../src/index.ts';
import { anyInput, never, useFleets } from '../support/fleets.ts';

const { open, afterCrash, hear } = useFleets();

const machine = defineMachine({
  version: 3,
  input: anyInput,
  name: 'told',
  retry: { attemptMax: 2, backoff: () => 1_000 },
  check: () => undefined,
  work: ({ attempt, log }) => {
    log.info('at work', { attempt });
    if (attempt === 1) throw new Error('once');
    return 'made';
  },
  validate: () => undefined,
  persist: ({ work }) => work,
});

test('a run says when it starts, what each phase comes to, why it waits, and how it ends', async () => {
  const names = ['run.started', 'run.waiting', 'run.finished', 'log.said'] as const;
  const [started, waiting, finished, said] = names.map((name) => hear(name));
  const begun = hear('phase.started');
  const ended = hear('phase.ended');
  const { fleet, clock } = await open({ machines: [machine] });
  const { id } = await fleet.startLocal(machine, {}, { key: 'k' });
  await clock.advance(1_000);
  const of = { run: id, machine: 'told', version: 3, epoch: 1 };
  expect(started).toEqual([{ ...of, key: 'k' }]);
  expect(ended.map(({ phase, attempt, outcome }) => `${phase} ${attempt} ${outcome}`)).toEqual([
    'check 1 done',
    'work 1 retried',
    'probe 2 done',
    'work 2 done',
    'validate 2 done',
    'persist 2 done',
  ]);
  expect(begun.map(({ phase }) => phase)).toEqual(ended.map(({ phase }) => phase));
  expect(ended[1]).toMatchObject({ ...of, step: 'main', error: { message: 'once' } });
  expect(ended[1]?.dueAt).toBe(
    fleet.events(id)[2]?.event.type === 'FAILED'
      ? waiting?.[0] && (waiting[0] as { dueAt: number }).dueAt
      : 0,
  );
  expect(waiting).toMatchObject([{ ...of, state: 'main.work', reason: 'retry' }]);
  expect(finished).toMatchObject([{ ...of, outcome: 'completed', state: 'main.persist' }]);
  expect(said).toMatchObject([
    { ...of, level: 'info', message: 'at work', fields: { attempt: 1 } },
    { ...of, level: 'info', message: 'at work', fields: { attempt: 2 } },
  ]);
});

test('a failed run says so, and is not counted among the good', async () => {
  const finished = hear('run.finished');
  const failing = defineMachine({
    version: 1,
    input: anyInput,
    name: 'failing',
    retry: { attemptMax: 1 },
    check: 'none',
    work: (): string => {
      throw new Error('broken');
    },
  });
  const { fleet, clock } = await open({ machines: [failing] });
  await fleet.startLocal(failing, {});
  await clock.settle();
  expect(finished).toMatchObject([{ outcome: 'exhausted', reason: 'broken' }]);
});

test('a process says when it starts and drains, and which runs it took up', async () => {
  const started = hear('engine.started');
  const draining = hear('engine.draining');
  const resumed = hear('run.resumed');
  const stuck = defineMachine({
    version: 1,
    input: anyInput,
    name: 'stuck',
    check: 'none',
    work: () => never() as Promise<string>,
  });
  const first = await open({ machines: [stuck], slots: 1 });
  const inside = await first.fleet.startLocal(stuck, {});
  const queued = await first.fleet.startLocal(stuck, {});
  await first.clock.settle();
  const second = await afterCrash(first, { machines: [stuck], slots: 1 });
  expect(started.map(({ boot, slots }) => ({ boot, slots }))).toEqual([
    { boot: 1, slots: 1 },
    { boot: 2, slots: 1 },
  ]);
  expect(resumed).toMatchObject([
    { run: inside.id, state: 'main.work', attempt: 1, wasInterrupted: true },
    { run: queued.id, state: 'main.work', attempt: 1, wasInterrupted: false },
  ]);
  await second.clock.settle();
  void second.fleet.drain({ budget: '7s' });
  expect(draining).toEqual([{ budgetMs: 7_000 }]);
  await second.clock.advance(7_000);
});

test('around wraps every phase, knows which it is, and sees what it returns', async () => {
  const seen: string[] = [];
  const around: Around = (of, call) => {
    seen.push(`> ${of.step}.${of.phase} ${of.attempt}`);
    const value = call();
    seen.push(`< ${of.step}.${of.phase} ${value}`);
    return value;
  };
  const { fleet, clock } = await open({ machines: [machine], around });
  await fleet.startLocal(machine, {});
  await clock.advance(1_000);
  expect(seen.filter((line) => line.startsWith('>'))).toEqual([
    '> main.check 1',
    '> main.work 1',
    '> main.probe 2',
    '> main.work 2',
    '> main.validate 2',
    '> main.persist 2',
  ]);
  expect(seen).toContain('< main.persist made');
});

test('an around that throws is a failure of its phase, and of nothing else', async () => {
  const around: Around = () => {
    throw new Error('the tracer broke');
  };
  const { fleet, clock } = await open({ machines: [machine], around });
  const { id } = await fleet.startLocal(machine, {});
  await clock.advance(1_000);
  expect(fleet.describe(id)).toMatchObject({
    outcome: 'exhausted',
    error: { message: 'the tracer broke' },
  });
});
