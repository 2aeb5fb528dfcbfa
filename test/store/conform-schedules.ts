/** Schedules: said by people and by code, due by the store's clock, and each tick put in once. */
import { expect, test } from 'vitest';
import type {
  ScheduleAnswer,
  ScheduleChange,
  ScheduleOrder,
  SchedulePlan,
  ScheduleRow,
  Ticking,
} from '../../src/store/schedule/schedules.ts';
import { HOUR, MACHINE, MINUTE, newTask } from './factories.ts';
import type { Scene } from './harness.ts';

let count = 0;

export function schedulePlan(options: Partial<SchedulePlan> = {}): SchedulePlan {
  return {
    machine: MACHINE,
    expression: '* * * * *',
    zone: 'UTC',
    payload: '{"n":1}',
    tickAs: undefined,
    missed: 'one',
    overlap: 'allow',
    jitterMs: 0,
    queue: 'default',
    priority: 0,
    ...options,
  };
}

export function changeOf(
  name: string,
  order: ScheduleOrder,
  more: Partial<ScheduleChange> = {},
): ScheduleChange {
  count += 1;
  return { name, requestId: `schedule-${count}`, who: 'ann', via: 'test', order, ...more };
}

const word = (answer: ScheduleAnswer) =>
  answer.kind === 'refused' ? answer.why : `${answer.kind} ${answer.schedule.status}`;

export function describeSchedules(scene: Scene): void {
  const find = async (name: string): Promise<ScheduleRow> => {
    const reader = await scene.store.openReader();
    try {
      const [row] = await reader.schedules({ names: [name], countMax: 1 });
      expect(row, `schedule ${name}`).toBeDefined();
      return row!;
    } finally {
      await reader.close();
    }
  };
  const listed = async (after?: string, countMax = 10): Promise<string[]> => {
    const reader = await scene.store.openReader();
    try {
      return (await reader.schedules({ after, countMax })).map(({ name }) => name);
    } finally {
      await reader.close();
    }
  };
  const change = async (name: string, order: ScheduleOrder) =>
    word(await scene.store.changeSchedule(changeOf(name, order)));
  const set = (name: string, options: Partial<SchedulePlan> = {}) =>
    change(name, { what: 'set', plan: schedulePlan(options) });
  const declare = (name: string, revision: number, options: Partial<SchedulePlan> = {}) =>
    change(name, { what: 'declare', revision, plan: schedulePlan(options) });
  const due = async (name: string): Promise<ScheduleRow> => {
    const { due: rows } = await scene.store.dueSchedules([MACHINE], 10);
    const row = rows.find((one) => one.name === name);
    expect(row, `${name} is due`).toBeDefined();
    return row!;
  };
  const tickingOf = (row: ScheduleRow, options: Partial<Ticking> = {}): Ticking => ({
    name: row.name,
    edition: row.edition,
    tasks: [newTask({ key: `schedule/${row.name}/${row.nextAt}`, payload: row.payload })],
    skipped: 0,
    lastAt: row.nextAt!,
    nextAt: row.nextAt! + MINUTE,
    trouble: undefined,
    ...options,
  });

  test('a schedule that is set has its next tick by the store, and its row in the log, once', async () => {
    const plan = schedulePlan({ expression: '0 * * * *', tickAs: 'at', jitterMs: 500 });
    const asked = changeOf('hourly', { what: 'set', plan });
    const answer = await scene.store.changeSchedule(asked);
    expect(answer).toMatchObject({ kind: 'done', isRepeated: false, schedule: { ...plan } });
    const row = await find('hourly');
    expect(row).toMatchObject({ ...plan, status: 'active', source: 'people', ticks: 0 });
    const wait = row.nextAt! - scene.harness.now();
    expect(row.nextAt! % HOUR).toBe(0);
    expect(wait).toBeGreaterThan(-1_000);
    expect(wait).toBeLessThanOrEqual(HOUR);
    expect(await scene.rival.changeSchedule(asked)).toMatchObject({ isRepeated: true });
    expect((await find('hourly')).edition).toBe(row.edition);
    const logged = await scene.harness.rows('audit_log');
    expect(logged).toMatchObject([{ id: asked.requestId, who: 'ann', what: 'schedule.set' }]);
    const other = { ...asked, order: { what: 'set', plan: schedulePlan() } as const };
    await expect(scene.store.changeSchedule(other)).rejects.toMatchObject({
      code: 'FLEETQ_REQUEST_REUSED',
    });
  });

  test('what makes no sense, or says too much, is refused and leaves nothing', async () => {
    const bad: Partial<SchedulePlan>[] = [
      { expression: '* * * * * *' },
      { expression: '61 * * * *' },
      { expression: '0 0 30 2 *' },
      { expression: `${'0,'.repeat(60)}0 * * * *` },
      { expression: '2030-01-01T00:00:00' },
      { zone: 'Europe/Nowhere' },
      { zone: '+02:00' },
      { jitterMs: 2 * HOUR },
      { missed: 'some' as never },
      { overlap: 'some' as never },
      { overlap: 'skip', missed: 'all' },
      { machine: '' },
      { priority: 32_768 },
      { payload: `"${'x'.repeat(200_000)}"` },
    ];
    for (const options of bad) {
      const asked = scene.store.changeSchedule(
        changeOf('bad', { what: 'set', plan: schedulePlan(options) }),
      );
      await expect(asked, JSON.stringify(options).slice(0, 80)).rejects.toMatchObject({
        code: 'FLEETQ_BAD_SCHEDULE',
      });
    }
    await expect(set('No Name')).rejects.toMatchObject({ code: 'FLEETQ_BAD_SCHEDULE' });
    expect(await listed()).toEqual([]);
    expect(await scene.rowCount('audit_log')).toBe(0);
  });

  test('a dry run changes nothing', async () => {
    const asked = changeOf('dry', { what: 'set', plan: schedulePlan() }, { isDryRun: true });
    expect(await scene.store.changeSchedule(asked)).toMatchObject({ kind: 'done', isDryRun: true });
    expect(await listed()).toEqual([]);
    expect(await scene.rowCount('audit_log')).toBe(0);
  });

  test('a tick is put in once, by whoever is first, and moves the schedule on', async () => {
    await set('minutely');
    const { now, due: early, nextMs } = await scene.store.dueSchedules([MACHINE], 10);
    expect(early.filter(({ nextAt }) => nextAt! > now)).toEqual([]);
    // The minute may be over meanwhile.
    if (early.length === 0) expect(now + nextMs!).toBe((await find('minutely')).nextAt);
    await scene.pass(MINUTE);
    const row = await due('minutely');
    expect((await scene.store.dueSchedules(['another'], 10)).due).toEqual([]);
    const [one, other] = [tickingOf(row), tickingOf(row)];
    const answers = await Promise.all([
      scene.store.tickSchedule(one),
      scene.rival.tickSchedule(other),
    ]);
    const first = answers[0] ? one : other;
    expect(answers.filter((answer) => answer !== undefined)).toEqual([
      { runs: [first.tasks[0]!.id] },
    ]);
    expect(await scene.rowCount('step_tracker')).toBe(1);
    expect(await find('minutely')).toMatchObject({
      ticks: 1,
      lastAt: row.nextAt,
      nextAt: row.nextAt! + MINUTE,
      lastRun: first.tasks[0]!.id,
      edition: row.edition + 1,
    });
    expect(await scene.rival.tickSchedule(first)).toBeUndefined();
    expect(await scene.rowCount('step_tracker')).toBe(1);
  });

  test('a tick whose run is there already, by its key, is not put in again', async () => {
    await set('keyed');
    await scene.pass(MINUTE);
    const ticking = tickingOf(await due('keyed'));
    const { key, payload } = ticking.tasks[0]!;
    const other = newTask({ key, payload });
    await scene.store.enqueue([other]);
    const taken = expect.stringContaining(`${key} is that of ${other.id}`);
    expect(await scene.store.tickSchedule(ticking)).toEqual({ runs: [], taken });
    expect(await scene.rowCount('step_tracker')).toBe(1);
    // Whoever looks for its last run finds a task, and reads why it is not its own.
    const told = { lastRun: other.id, ticks: 0, trouble: taken, lastAt: ticking.lastAt };
    expect(await find('keyed')).toMatchObject(told);
    await scene.pass(MINUTE);
    const next = newTask({ key: `${key}/next`, payload });
    const going = tickingOf(await due('keyed'), { tasks: [next] });
    expect(await scene.store.tickSchedule(going)).toEqual({ runs: [next.id] });
    const mended = { lastRun: next.id, ticks: 1, trouble: undefined };
    expect(await find('keyed')).toMatchObject(mended);
  });

  test('a tick that can put nothing in says why, and the next one clears that', async () => {
    await set('troubled');
    await scene.pass(2 * MINUTE);
    const row = await due('troubled');
    const none = tickingOf(row, { tasks: [], trouble: 'the input is refused' });
    expect(await scene.store.tickSchedule(none)).toEqual({ runs: [] });
    const after = await due('troubled');
    expect(after).toMatchObject({ trouble: 'the input is refused', ticks: 0 });
    await scene.store.tickSchedule(tickingOf(after));
    expect(await find('troubled')).toMatchObject({ trouble: undefined, ticks: 1 });
  });

  test('a run that people ask for is put in once, beside the ticks, and told in the log', async () => {
    await set('asked', { expression: '0 0 1 1 *' });
    await change('asked', { what: 'pause' });
    const before = await find('asked');
    const run = () => ({ what: 'run', task: newTask({ key: 'schedule/asked/now/one' }) }) as const;
    const [first, again] = [run(), run()];
    const asked = changeOf('asked', first, { reason: 'the import was late' });
    const tried = await scene.store.changeSchedule({ ...asked, isDryRun: true });
    expect([tried, await scene.rowCount('step_tracker')]).toMatchObject([{ isDryRun: true }, 0]);
    const id = first.task.id;
    expect(await scene.store.changeSchedule(asked)).toMatchObject({ kind: 'done', run: id });
    const repeated = await scene.rival.changeSchedule({ ...asked, order: again });
    expect(repeated).toMatchObject({ isRepeated: true, run: id });
    const after = await find('asked');
    expect(after).toMatchObject({ lastRun: id, status: 'paused', ticks: 0, lastAt: undefined });
    expect([after.edition, after.nextAt]).toEqual([before.edition + 1, before.nextAt]);
    expect(Math.abs(after.lastRunAt! - scene.harness.now())).toBeLessThan(MINUTE);
    expect(await scene.rowCount('step_tracker')).toBe(1);
    const logged = (await scene.harness.rows('audit_log')).find(
      ({ what }) => what === 'schedule.run',
    );
    expect(logged).toMatchObject({ id: asked.requestId, who: 'ann', task_id: id });
    expect(logged?.['detail']).toContain('the import was late');
    await change('asked', { what: 'remove' });
    expect(await change('asked', run())).toBe('removed');
    expect(await change('nobody', run())).toBe('unknown');
  });

  test('a run whose key stands for another task is refused, and nothing is changed', async () => {
    await set('taken', { expression: '0 0 1 1 *' });
    const before = await find('taken');
    const key = 'schedule/taken/now/one';
    await scene.store.enqueue([newTask({ key })]);
    const asked = changeOf('taken', { what: 'run', task: newTask({ key }) });
    await expect(scene.store.changeSchedule(asked)).rejects.toMatchObject({
      code: 'FLEETQ_REQUEST_REUSED',
    });
    expect([await find('taken'), await scene.rowCount('step_tracker')]).toEqual([before, 1]);
    const logged = await scene.harness.rows('audit_log');
    expect(logged.filter(({ what }) => what === 'schedule.run')).toEqual([]);
  });

  test('where there is one at a time, a run is refused until the one before has ended', async () => {
    await set('single', { overlap: 'skip' });
    await scene.pass(MINUTE);
    const ticking = tickingOf(await due('single'));
    await scene.store.tickSchedule(ticking);
    const { id } = ticking.tasks[0]!;
    const run = () => change('single', { what: 'run', task: newTask() });
    expect(await run()).toBe('busy');
    await scene.pass(MINUTE);
    const row = await due('single');
    await scene.store.tickSchedule(tickingOf(row, { tasks: [], skipped: 2 }));
    const skipping = { overlap: 'skip', skipped: 2, ticks: 1, lastRun: id, lastAt: row.nextAt };
    expect(await find('single')).toMatchObject({ ...skipping, lastRunAt: row.nextAt! - MINUTE });
    await scene.store.act({
      ...{ requestId: `cancel-${id}`, who: 'ann', via: 'test', task: id },
      deed: { what: 'cancel', reason: 'enough' },
    });
    expect(await run()).toBe('done active');
    expect(await set('single', { overlap: 'allow' })).toBe('done active');
    expect(await run()).toBe('done active');
    expect(await find('single')).toMatchObject({ overlap: 'allow', skipped: 2 });
  });

  test('a paused schedule is not due, and goes on after now when it is resumed', async () => {
    await set('paused');
    await scene.pass(MINUTE);
    const before = await due('paused');
    expect(await change('paused', { what: 'pause' })).toBe('done paused');
    const late = changeOf('paused', { what: 'pause' });
    expect(word(await scene.store.changeSchedule(late))).toBe('already paused');
    expect(await scene.store.tickSchedule(tickingOf(before))).toBeUndefined();
    await scene.pass(3 * HOUR);
    expect((await scene.store.dueSchedules([MACHINE], 10)).due).toEqual([]);
    expect(await set('paused', { zone: 'Europe/Berlin' })).toBe('done paused');
    expect(await change('paused', { what: 'resume' })).toBe('done active');
    // A copy of the request that found it paused already comes late.
    const copy = await scene.rival.changeSchedule(late);
    expect(copy).toMatchObject({
      kind: 'already',
      isRepeated: true,
      schedule: { status: 'active' },
    });
    const { nextAt } = await find('paused');
    expect(nextAt).toBeGreaterThan(scene.harness.now() - 1_000);
    expect(await change('nobody', { what: 'resume' })).toBe('unknown');
  });

  test('what was removed is in no list, ticks no more, and is set again by people alone', async () => {
    await set('gone');
    await scene.pass(MINUTE);
    const before = await due('gone');
    expect(await change('gone', { what: 'remove' })).toBe('done removed');
    expect(await change('gone', { what: 'remove' })).toBe('already removed');
    expect(await change('gone', { what: 'resume' })).toBe('removed');
    expect(await scene.store.tickSchedule(tickingOf(before))).toBeUndefined();
    expect(await listed()).toEqual([]);
    expect(await find('gone')).toMatchObject({ status: 'removed', nextAt: undefined });
    expect(await set('gone')).toBe('done active');
    expect(await listed()).toEqual(['gone']);
  });

  test('of what code declares the highest revision counts; older code brings nothing back', async () => {
    expect(await declare('coded', 2)).toBe('done active');
    expect(await declare('coded', 2)).toBe('already active');
    expect(await declare('coded', 1, { expression: '5 * * * *' })).toBe('already active');
    expect(await declare('coded', 2, { expression: '5 * * * *' })).toBe('ignored active');
    expect(await find('coded')).toMatchObject({ expression: '* * * * *', source: 'code' });
    expect(await change('coded', { what: 'remove' })).toBe('done removed');
    expect(await declare('coded', 2)).toBe('already removed');
    expect(await declare('coded', 1)).toBe('already removed');
    expect(await listed()).toEqual([]);
    expect(await declare('coded', 3, { expression: '5 * * * *' })).toBe('done active');
    expect(await find('coded')).toMatchObject({ expression: '5 * * * *', revision: 3 });
  });

  test('what people set stays until code declares a higher revision', async () => {
    await declare('both', 1);
    await set('both', { expression: '7 * * * *' });
    expect(await declare('both', 1)).toBe('already active');
    expect(await find('both')).toMatchObject({ expression: '7 * * * *', source: 'people' });
    await declare('both', 2, { expression: '8 * * * *' });
    expect(await find('both')).toMatchObject({ expression: '8 * * * *', source: 'code' });
  });

  test('a tick that was put in is not put in again after the schedule is set anew', async () => {
    await set('anew');
    await scene.pass(MINUTE);
    const row = await due('anew');
    const ahead = row.nextAt! + 10 * MINUTE;
    await scene.store.tickSchedule(tickingOf(row, { lastAt: ahead, nextAt: ahead + MINUTE }));
    await change('anew', { what: 'remove' });
    await set('anew');
    expect((await find('anew')).nextAt).toBe(ahead + MINUTE);
  });

  test('lists are in the order of names, page by page', async () => {
    for (const name of ['birch', 'alder', 'cedar']) await set(name);
    expect(await listed()).toEqual(['alder', 'birch', 'cedar']);
    expect(await listed('alder', 1)).toEqual(['birch']);
    expect(await listed('cedar')).toEqual([]);
  });

  test('two that make one schedule at once make one, and both are answered', async () => {
    const asked = (n: number) =>
      changeOf('raced', { what: 'declare', revision: 1, plan: schedulePlan({ priority: n }) });
    const answers = await Promise.all([
      scene.store.changeSchedule(asked(1)),
      scene.rival.changeSchedule(asked(2)),
    ]);
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['done', 'ignored']);
  });
}
