/** What pods make of schedules: ticks in time, missed ones, refused ones, and what code declares. */
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineSchedule } from '../../src/fleet/schedule/definition.ts';
import { runNow } from '../../src/fleet/schedule/run-now.ts';
import { aesCodec, newCodecKey, parseCodecKeys } from '../../src/ground/index.ts';
import { defineMachine, Registry } from '../../src/machine/index.ts';
import { CATCH_UP_MAX, turnOf } from '../../src/store/schedule/missed.ts';
import { sealedStore } from '../../src/store/sealed-store.ts';
import { listen } from '../../src/telemetry/events.ts';
import { changeOf, schedulePlan } from '../store/conform-schedules.ts';
import { newTask } from '../store/factories.ts';
import { report, Stage } from './stage.ts';

const MINUTE = 60_000;
const iso = (ms: number) => new Date(ms).toISOString();
const at = (text: string) => Date.parse(text);

test.each([
  ['skip', ['2030-01-02T12:00:00.000Z']],
  ['one', ['2030-01-02T12:00:00.000Z']],
  ['all', Array.from({ length: 49 }, (_, hour) => iso(at('2029-12-31T12:00Z') + hour * 3_600_000))],
] as const)('after two days without a pod, %s puts in what it says', async (missed, wanted) => {
  const stage = new Stage('2029-12-31T11:30:00Z');
  await stage.set('hourly', { expression: '0 * * * *', missed });
  stage.ms = at('2030-01-02T12:00:20Z');
  await stage.pod().turn();
  expect(stage.taken().map(({ tick }) => iso(tick))).toEqual(wanted);
  expect(stage.row('hourly')).toMatchObject({
    nextAt: at('2030-01-02T13:00Z'),
    ticks: wanted.length,
  });
});

test('with skip, a tick that is more than a minute old is left out', async () => {
  const stage = new Stage('2030-01-01T00:30:00Z');
  await stage.set('hourly', { expression: '0 * * * *', missed: 'skip' });
  stage.ms = at('2030-01-01T05:10:00Z');
  await stage.pod().turn();
  expect(stage.taken()).toEqual([]);
  expect(stage.row('hourly').nextAt).toBe(at('2030-01-01T06:00Z'));
});

test('one finds the last of a year of minutes', () => {
  const [from, now] = [at('2030-01-01T00:00Z'), at('2030-12-31T11:59:30Z')];
  const plan = { expression: '* 0-10 * * *', zone: 'UTC', missed: 'one' } as const;
  expect(turnOf(plan, from, now)).toMatchObject({
    ticks: [at('2030-12-31T10:59Z')],
    nextAt: at('2031-01-01T00:00Z'),
  });
});

test('all catches up on so many, the newest, and tells what it leaves out', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.set('minutely', { missed: 'all' });
  stage.ms = at('2030-01-08T00:00:30Z');
  const troubles: string[] = [];
  const stop = listen('schedule.troubled', ({ reason }) => troubles.push(reason));
  await stage.pod().turn();
  stop();
  const ticks = stage.taken().map(({ tick }) => tick);
  expect(ticks).toHaveLength(CATCH_UP_MAX);
  expect(ticks.at(-1)).toBe(at('2030-01-08T00:00Z'));
  expect(ticks[0]).toBe(at('2030-01-08T00:00Z') - (CATCH_UP_MAX - 1) * MINUTE);
  const said = expect.stringMatching(/more than 500 ticks were missed since 2030-01-01T00:01/);
  expect(troubles).toEqual([said]);
  stage.ms += MINUTE;
  await stage.pod().turn();
  expect(stage.taken()).toHaveLength(1);
  expect(stage.row('minutely').trouble).toBeUndefined();
});

test('a run has its key, the newest version, its tick, and the same jitter whoever puts it in', async () => {
  const dues = new Set<number>();
  for (const _ of [1, 2]) {
    const stage = new Stage('2030-01-01T00:00:30Z');
    await stage.set('jittered', { tickAs: 'at', jitterMs: 30_000, queue: 'slow', priority: 7 });
    stage.ms = at('2030-01-01T00:01:00Z');
    await stage.pod().turn();
    const [task] = [...stage.tables.tasks.values()];
    expect(task).toMatchObject({
      key: 'schedule/jittered/2030-01-01T00:01:00.000Z',
      ...{ machine: 'report', version: 3, queue: 'slow', priority: 7 },
      payload: '{"n":1,"at":"2030-01-01T00:01:00.000Z"}',
    });
    dues.add(task!.runAt);
  }
  const [due] = dues;
  expect(dues.size).toBe(1);
  expect(due).toBeGreaterThan(at('2030-01-01T00:01:00Z'));
  expect(due).toBeLessThan(at('2030-01-01T00:01:30Z'));
});

test('an input that the machine refuses is told once a tick, and holds no other schedule up', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.set('a-bad', { payload: '{"n":"one"}' });
  await stage.set('b-good');
  const troubles: string[] = [];
  const stop = listen('schedule.troubled', ({ schedule }) => troubles.push(schedule));
  stage.ms += MINUTE;
  for (let looks = 0; looks < 5; looks += 1) await stage.pod().turn();
  stop();
  expect(stage.taken()).toMatchObject([{ schedule: 'b-good' }]);
  expect(troubles).toEqual(['a-bad']);
  expect(stage.row('a-bad')).toMatchObject({
    ticks: 0,
    trouble: expect.stringContaining('report'),
  });
  await stage.set('a-bad');
  stage.ms += MINUTE;
  await stage.pod().turn();
  expect(stage.row('a-bad')).toMatchObject({ ticks: 1, trouble: undefined });
});

test('what the store refuses is told, and the schedule goes on', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.set('poison');
  stage.tables.schedules.set('poison', { ...stage.row('poison'), queue: 'nul\0' });
  stage.ms += MINUTE;
  await stage.pod().turn();
  expect(stage.row('poison')).toMatchObject({ ticks: 0, trouble: expect.stringContaining('NUL') });
  expect(stage.row('poison').nextAt).toBeGreaterThan(stage.ms);
});

test('a schedule of a machine that is not here is left to those who have it', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.set('elsewhere', { machine: 'another' });
  const { edition } = stage.row('elsewhere');
  stage.ms += MINUTE;
  await stage.pod().turn();
  expect(stage.taken()).toEqual([]);
  expect(stage.row('elsewhere').edition).toBe(edition);
});

test('a pod without the key leaves a sealed schedule alone, and one with it runs it', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  const codec = aesCodec(parseCodecKeys(newCodecKey('test', stage.random), 'the test'));
  const sealed = sealedStore(stage.store, codec);
  const plan = schedulePlan({ machine: 'report' });
  await sealed.changeSchedule(changeOf('secret', { what: 'set', plan }));
  expect(stage.row('secret').payload).not.toContain('"n"');
  stage.ms += MINUTE;
  await stage.pod().turn();
  expect(stage.tables.tasks.size).toBe(0);
  await stage.pod(undefined, [], sealed).turn();
  const [task] = [...stage.tables.tasks.values()];
  expect(task?.payload).not.toContain('"n"');
  const found = await sealed.find([task!.taskId]);
  expect(found).toMatchObject([{ payload: '{"n":1}', status: 'pending' }]);
  const unfit = schedulePlan({ machine: 'report', payload: '{"n":"canary"}' });
  await sealed.changeSchedule(changeOf('secret', { what: 'set', plan: unfit }));
  stage.ms += MINUTE;
  await stage.pod(undefined, [], sealed).turn();
  expect(stage.row('secret').trouble).not.toContain('SchemaError');
  const reader = await sealed.openReader();
  const [seen] = await reader.schedules({ names: ['secret'], countMax: 1 });
  expect(seen?.trouble).toContain('SchemaError');
});

const nightly = (revision: number, cron = '30 2 * * *') =>
  defineSchedule({ name: 'nightly', cron, machine: report, input: { n: 1 }, revision });

test('pods declare what code says; a changed one under the same revision is told, and ignored', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.pod(undefined, [nightly(1)]).turn();
  await stage.pod(undefined, [nightly(2, '0 3 * * *')]).turn();
  await stage.pod(undefined, [nightly(1)]).turn();
  expect(stage.row('nightly')).toMatchObject({ expression: '0 3 * * *', revision: 2 });
  const troubles: string[] = [];
  const stop = listen('schedule.troubled', ({ reason }) => troubles.push(reason));
  await stage.pod(undefined, [nightly(2, '0 4 * * *')]).turn();
  stop();
  expect(troubles).toEqual(['another one was declared as revision 2: raise it to change it']);
  await stage.store.changeSchedule(changeOf('nightly', { what: 'remove' }));
  await stage.pod(undefined, [nightly(1), nightly(2, '0 3 * * *')]).turn();
  expect(stage.row('nightly').status).toBe('removed');
});

test('a store that is away is asked again, and nothing is lost meanwhile', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  let isAway = true;
  const pod = stage.pod(
    async (_, act) => {
      if (isAway) throw new Error('away');
      return act();
    },
    [nightly(1, '* * * * *')],
  );
  await expect(pod.turn()).rejects.toThrow('away');
  isAway = false;
  await pod.turn();
  stage.ms += MINUTE;
  await pod.turn();
  expect(stage.taken()).toHaveLength(1);
});

test('a definition that makes no sense is refused where it is written', () => {
  const wrong: readonly (readonly [object, string])[] = [
    [{ name: 'No' }, 'is no name for a schedule'],
    [{ cron: '* * * * * *' }, 'once a minute at most'],
    [{ zone: 'Mars/Olympus' }, 'there is no time zone'],
    [{ revision: 0 }, 'revision must be a whole number'],
    [{ missed: 'few' }, 'missed must be skip, one, all'],
    [{ jitter: '2h' }, 'jitter must be an hour or less'],
    [{ jitter: 'soon' }, 'jitter must be a duration'],
    [{ input: { n: 1, blob: 'x'.repeat(70_000) } }, '65536 are the most'],
    [{ input: [1], tickAs: 'at' }, 'which must be an object'],
  ];
  const right = { name: 'n', cron: '* * * * *', machine: report, input: { n: 1 } };
  for (const [options, said] of wrong)
    expect(() => defineSchedule({ ...right, ...options })).toThrow(said);
});

test('the input is typed, without the property that tells the tick', () => {
  const dated = defineMachine({
    name: 'dated',
    version: 1,
    input: z.object({ n: z.number(), at: z.string() }),
    check: 'none',
    work: () => ({ isDone: true }),
    validate: () => undefined,
    persist: ({ work }) => work.isDone,
  });
  const made = defineSchedule({
    ...{ name: 'd', cron: '@daily', machine: dated },
    input: { n: 1 },
    tickAs: 'at',
  });
  expectTypeOf(made.plan.payload).toEqualTypeOf<string>();
  // @ts-expect-error: without tickAs the input wants `at`
  defineSchedule({ name: 'd', cron: '@daily', machine: dated, input: { n: 1 } });
});

test('however many are sealed for a pod, it sees to the others, and is there for the next in time', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  const codec = aesCodec(parseCodecKeys(newCodecKey('test', stage.random), 'the test'));
  const sealed = sealedStore(stage.store, codec);
  const plan = schedulePlan({ machine: 'report' });
  for (let n = 0; n < 120; n += 1)
    await sealed.changeSchedule(changeOf(`secret-${n}`, { what: 'set', plan }));
  const wakes: number[] = [];
  const after = (ms: number) => {
    wakes.push(ms);
    return () => undefined;
  };
  Object.assign(stage.clock, { after });
  // The longest due come first, and those are sealed.
  stage.ms = at('2030-01-01T00:01:10Z');
  await stage.set('visible');
  stage.ms = at('2030-01-01T00:02:00Z');
  const pod = stage.pod();
  await pod.turn();
  expect(stage.taken()).toMatchObject([{ schedule: 'visible' }]);
  expect(wakes).toEqual([MINUTE]);
  stage.ms += MINUTE;
  await pod.turn();
  expect(stage.taken()).toMatchObject([{ schedule: 'visible' }]);
  await stage.pod(undefined, [], sealed).turn();
  expect(stage.tables.tasks.size).toBe(120);
});

test('a tick whose key somebody has taken is told, and the next one is put in', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.set('taken');
  const key = 'schedule/taken/2030-01-01T00:01:00.000Z';
  await stage.store.enqueue([newTask({ machine: 'report', key, payload: '{"n":666}' })]);
  const [id] = [...stage.tables.tasks.keys()];
  const told: string[] = [];
  const stops = [
    listen('schedule.troubled', ({ reason }) => told.push(reason)),
    listen('schedule.ticked', ({ schedule }) => told.push(schedule)),
  ];
  for (let looks = 0; looks < 3; looks += 1) {
    stage.ms = at('2030-01-01T00:01:00Z') + looks;
    await stage.pod().turn();
  }
  const said = `the key ${key} is that of ${id}, which was there before: nothing was put in`;
  expect(told).toEqual([said]);
  expect(stage.row('taken')).toMatchObject({ ticks: 0, lastRun: id, trouble: said });
  stage.ms = at('2030-01-01T00:02:00Z');
  await stage.pod().turn();
  for (const stop of stops) stop();
  expect(told).toEqual([said, 'taken']);
  expect(stage.row('taken')).toMatchObject({ ticks: 1, trouble: undefined });
});

test('with one run at a time, a tick while that has not ended is left out, counted and told', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.set('single', { overlap: 'skip' });
  const told: unknown[] = [];
  const stop = listen('schedule.skipped', (event) => told.push(event));
  const ticks = async (count: number) => {
    for (let tick = 0; tick < count; tick += 1) {
      stage.ms += MINUTE;
      // Two that look at once, each before the other has moved it.
      await Promise.all([stage.pod().turn(), stage.pod().turn()]);
    }
  };
  await ticks(3);
  expect(stage.tables.tasks.size).toBe(1);
  const [run] = [...stage.tables.tasks.keys()];
  expect(stage.row('single')).toMatchObject({ ticks: 1, skipped: 2, trouble: undefined });
  const said = { schedule: 'single', machine: 'report', count: 1, run };
  expect(told).toEqual([said, said]);
  await stage.store.act({
    ...{ requestId: 'cancel', who: 'ann', via: 'test', task: run as never },
    deed: { what: 'cancel', reason: 'enough' },
  });
  await ticks(1);
  expect(stage.row('single')).toMatchObject({ ticks: 2, skipped: 2 });
  expect(stage.row('single').lastRun).not.toBe(run);
  // Put off for longer than until the next tick: the newest of what is due is put in, and no other.
  stage.tables.tasks.clear();
  await stage.set('single', { overlap: 'skip', missed: 'skip' });
  const { nextAt } = stage.row('single');
  stage.ms = nextAt! + MINUTE;
  await stage.pod().turn();
  expect(stage.taken()).toMatchObject([{ tick: nextAt! + MINUTE }]);
  expect(stage.row('single')).toMatchObject({ ticks: 3, skipped: 3 });
  stop();
});

test('a run that people ask for holds the ticks of one at a time up, too, and is told its time', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.set('single', { overlap: 'skip', tickAs: 'at' });
  const { store, clock, mint } = stage;
  const ports = { store, clock, mint, registry: new Registry([report]), keyMs: 1_000 };
  const by = { requestId: 'now', who: 'ann', via: 'test' };
  const answer = await runNow(ports, stage.row('single'), by);
  expect(answer).toMatchObject({ kind: 'done', isRepeated: false });
  stage.ms += MINUTE;
  await stage.pod().turn();
  expect(await runNow(ports, stage.row('single'), by)).toEqual({
    ...answer,
    isRepeated: true,
    schedule: stage.row('single'),
  });
  const tasks = [...stage.tables.tasks.values()];
  expect(tasks).toMatchObject([
    { key: 'schedule/single/now/now', payload: '{"n":1,"at":"2030-01-01T00:00:30.000Z"}' },
  ]);
  expect(stage.row('single')).toMatchObject({ ticks: 0, skipped: 1, lastRun: tasks[0]!.taskId });
  const unfit = { ...stage.row('single'), payload: '{"n":"x"}' };
  await expect(runNow(ports, unfit, { ...by, requestId: 'b' })).rejects.toThrow(/report/);
  const sealed = { ...stage.row('single'), payload: 'fqs1.x' };
  await expect(runNow(ports, sealed, { ...by, requestId: 'c' })).rejects.toThrow('is sealed');
});

test('a run that people ask for is of what the schedule says then, whatever was read of it before', async () => {
  const stage = new Stage('2030-01-01T00:00:30Z');
  await stage.set('late');
  const before = stage.row('late');
  await stage.set('late', { payload: '{"n":2}', queue: 'slow' });
  const { store, clock, mint } = stage;
  const ports = { store, clock, mint, registry: new Registry([report]), keyMs: 1_000 };
  const by = { requestId: 'now', who: 'ann', via: 'test' };
  expect(await runNow(ports, before, by)).toMatchObject({ kind: 'done', isRepeated: false });
  const many = ['a', 'b', 'c'].map((requestId) => runNow(ports, before, { ...by, requestId }));
  expect(await Promise.all(many)).toMatchObject(many.map(() => ({ kind: 'done' })));
  const tasks = [...stage.tables.tasks.values()];
  expect(tasks).toMatchObject(Array(4).fill({ payload: '{"n":2}', queue: 'slow' }));
});
