/** What one shift after the other makes of a bulk operation, wherever they are cut off. */
import { expect, test } from 'vitest';
import { orderFor } from '../store/conform-bulk.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/fleets.ts';
import { Mortal, Stage } from './stage.ts';

test('a filter that what is done changes finds each task once, and the counts are exact', async () => {
  const stage = new Stage();
  const letters = stage.letters(25);
  const { id } = await stage.begin({ rate: 4 });
  await stage.shift(id);
  stage.expectRedriven(id, letters);
  expect(stage.row(id)).toMatchObject({ status: 'completed', expected: 25 });
});

test('whoever dies between any two calls leaves a page that the next one counts exactly', async () => {
  let deaths = 0;
  for (const how of ['before', 'after'] as const) {
    for (let call = 1; ; call += 1) {
      const stage = new Stage();
      const letters = stage.letters(7);
      const { id } = await stage.begin({ rate: 2 });
      const mortal = new Mortal(call, how);
      const isCut = await stage.shift(id, { mortal }).then(
        () => false,
        () => true,
      );
      if (!isCut && !mortal.isDead) break;
      deaths += 1;
      await stage.shift(id);
      stage.expectRedriven(id, letters);
      expect(stage.row(id)).toMatchObject({ status: 'completed', inHand: [] });
    }
  }
  // Two calls at the start, two saves a page, and an act for each.
  expect(deaths).toBeGreaterThan(24);
});

test('one that dies when it was told to stop leaves exact counts to who stops it', async () => {
  for (const what of ['pause', 'cancel'] as const) {
    for (let call = 3; call < 9; call += 1) {
      const stage = new Stage();
      const letters = stage.letters(12);
      const { id } = await stage.begin({ rate: 2 });
      await expect(stage.shift(id, { mortal: new Mortal(call) })).rejects.toThrow('dead');
      await stage.order(id, what);
      await stage.shift(id);
      const { status, done, refused, found } = stage.row(id);
      expect(status).toBe(what === 'pause' ? 'paused' : 'cancelled');
      const redriven = letters.filter((task) => stage.tables.tasks.get(task)!.generation === 2);
      expect({ done, refused }).toEqual({ done: redriven.length, refused: 0 });
      expect(found).toBeGreaterThanOrEqual(done);
      if (what === 'cancel') continue;
      await stage.order(id, 'resume');
      await stage.shift(id);
      stage.expectRedriven(id, letters);
    }
  }
});

test('a process that was stopped and wakes late changes nothing of what its successor has counted', async () => {
  const stage = new Stage();
  const letters = stage.letters(9);
  const { id } = await stage.begin({ rate: 2 });
  const [held, isHeld] = [gate(), gate()];
  const late = stage.shift(id, {
    token: 1,
    onTurn: async (turns) => {
      if (turns > 1) return;
      isHeld.open();
      await held.opened;
    },
  });
  await isHeld.opened;
  await stage.shift(id, { token: 2 });
  const counted = stage.row(id);
  held.open();
  await late;
  expect(stage.row(id)).toEqual(counted);
  stage.expectRedriven(id, letters);
  expect(await stage.shift(id, { token: 1 })).toBe('nothing');
});

test('a process that wakes with a page half done does it no second time, and counts nothing', async () => {
  const stage = new Stage();
  const letters = stage.letters(15);
  const { id } = await stage.begin({ rate: 3 });
  const asleep = new Mortal();
  const [held, isHeld] = [gate(), gate()];
  const way = asleep.way;
  let acts = 0;
  Object.assign(asleep, {
    way: (async (verb, act) => {
      if (verb === 'act') acts += 1;
      if (verb === 'act' && acts === 3) {
        isHeld.open();
        await held.opened;
      }
      return way(verb, act);
    }) satisfies Mortal['way'],
  });
  const late = stage.shift(id, { token: 1, mortal: asleep });
  await isHeld.opened;
  await stage.shift(id, {
    token: 2,
    // It wakes while its successor is in the middle.
    onTurn: async (turns) => {
      if (turns > 1) return;
      held.open();
      await late;
    },
  });
  stage.expectRedriven(id, letters);
  expect(stage.row(id).status).toBe('completed');
});

test('tasks that come while it goes on are not touched, and neither are the fleet’s own', async () => {
  const stage = new Stage();
  const letters = stage.letters(6);
  const now = stage.tables.now();
  const ended = { status: 'failed', error: '{}', finishedAt: now } as const;
  const own = [stage.tables.insert({ machine: 'fleet/bulk', ...ended }).taskId];
  const { id } = await stage.begin({ rate: 1 });
  stage.clock.pass(5);
  let late: string[] = [];
  await stage.shift(id, {
    onTurn: (turns) => {
      if (turns === 1) late = stage.letters(3);
      return undefined;
    },
  });
  stage.expectRedriven(id, letters);
  for (const task of [...own, ...late]) {
    expect(stage.tables.tasks.get(task)).toMatchObject({ status: 'failed', generation: 1 });
  }
});

test('no more tasks are taken than were asked for', async () => {
  const stage = new Stage();
  const letters = stage.letters(10);
  const { id } = await stage.begin({ rate: 2, countMax: 5 });
  await stage.shift(id);
  expect(stage.row(id)).toMatchObject({ status: 'completed', found: 5, done: 5, expected: 5 });
  stage.expectRedriven(id, letters.slice(5));
});

test('what refuses is counted by its kind, told of in samples, and no failure', async () => {
  const stage = new Stage();
  stage.letters(30);
  const deed = JSON.stringify({ what: 'cancel', reason: 'not wanted' });
  const { id } = await stage.begin({ what: 'cancel', deed, filter: 'status:failed', rate: 50 });
  await stage.shift(id);
  const { refused, refusals, samples, status } = stage.row(id);
  expect({ refused, refusals, status }).toEqual({
    refused: 30,
    refusals: { ended: 30 },
    status: 'completed',
  });
  expect(samples).toHaveLength(20);
  expect(samples[0]).toMatchObject({ why: 'ended', detail: 'it is failed' });
});

test('a pause keeps what is in hand, a resume goes on there, and a cancellation leaves the rest', async () => {
  const stage = new Stage();
  const letters = stage.letters(20);
  const { id } = await stage.begin({ rate: 2 });
  const after = (turn: number, what: 'pause' | 'cancel') => ({
    onTurn: (turns: number) => (turns === turn ? stage.order(id, what) : undefined),
  });
  await stage.shift(id, after(2, 'pause'));
  expect(stage.row(id)).toMatchObject({ status: 'paused', done: 8 });
  expect(await stage.shift(id)).toBe('nothing');
  await stage.order(id, 'resume');
  await stage.shift(id, after(1, 'cancel'));
  expect(stage.row(id)).toMatchObject({ status: 'cancelled', done: 12, inHand: [] });
  const left = letters.filter((task) => stage.tables.tasks.get(task)!.generation === 1);
  expect(left).toEqual(letters.slice(0, 8));
});

test('the rate is held, second by second, and a new one is held from the next page on', async () => {
  const clock = new FakeClock();
  const stage = new Stage(clock);
  stage.letters(200);
  const { id } = await stage.begin({ rate: 5 });
  const ended = stage.shift(id);
  const counts: number[] = [];
  for (let second = 1; second <= 6; second += 1) {
    await clock.advance(1_000);
    counts.push([...stage.tables.audit.values()].filter(({ what }) => what === 'redrive').length);
  }
  counts.forEach((count, index) => {
    expect(count).toBeLessThanOrEqual(5 * (index + 1) + 1);
    expect(count).toBeGreaterThanOrEqual(5 * (index + 1) - 1);
  });
  const redriven = () =>
    [...stage.tables.audit.values()].filter(({ what }) => what === 'redrive').length;
  await stage.store.orderBulk(orderFor(id, { what: 'pace', rate: 20 }));
  // Seen with the page in hand, which is two seconds at the old rate.
  await clock.advance(3_000);
  const before = redriven();
  await clock.advance(2_000);
  expect(redriven() - before).toBeGreaterThanOrEqual(38);
  expect(redriven() - before).toBeLessThanOrEqual(42);
  await stage.order(id, 'cancel');
  await clock.advance(4_000);
  await ended;
  expect(stage.row(id).status).toBe('cancelled');
});

test('a shift that has been at it for a minute hands over to another run', async () => {
  const stage = new Stage();
  const letters = stage.letters(200);
  const first = await stage.begin({ rate: 2 });
  await stage.shift(first.id);
  const second = stage.row(first.id);
  expect(second.shift).toBe(2);
  expect(second.status).toBe('running');
  expect(stage.tables.tasks.get(second.shiftRun)).toMatchObject({ status: 'pending' });
  for (let shifts = 0; shifts < 5 && stage.row(first.id).status === 'running'; shifts += 1) {
    await stage.shift(first.id);
  }
  stage.expectRedriven(first.id, letters);
});

test('what was stopped has nothing more done for it, by whoever wakes late', async () => {
  for (const what of ['cancel', 'pause'] as const) {
    const stage = new Stage();
    const letters = stage.letters(20);
    const { id } = await stage.begin({ rate: 8 });
    const [held, isHeld] = [gate(), gate()];
    const asleep = new Mortal();
    const way = asleep.way;
    Object.assign(asleep, {
      way: (async (verb, act) => {
        if (verb === 'act') {
          isHeld.open();
          await held.opened;
        }
        return way(verb, act);
      }) satisfies Mortal['way'],
    });
    const late = stage.shift(id, { token: 1, mortal: asleep });
    await isHeld.opened;
    await stage.order(id, what);
    await stage.shift(id, { token: 2 });
    const stopped = stage.row(id);
    expect(stopped.status).toBe(what === 'cancel' ? 'cancelled' : 'paused');
    held.open();
    await late;
    expect(stage.row(id)).toEqual(stopped);
    const redriven = letters.filter((task) => stage.tables.tasks.get(task)!.generation > 1);
    expect(redriven).toHaveLength(stopped.done);
  }
});

test('a page that was made at a higher rate is worked off at the present one, in small turns', async () => {
  const clock = new FakeClock();
  const stage = new Stage(clock);
  stage.letters(150);
  const { id } = await stage.begin({ rate: 50 });
  const mortal = new Mortal(6);
  const died = stage.shift(id, { mortal }).catch(() => 'dead');
  await clock.advance(3_000);
  expect(await died).toBe('dead');
  await stage.store.orderBulk(orderFor(id, { what: 'pace', rate: 1 }));
  const next = stage.shift(id);
  await clock.advance(3_000);
  await stage.order(id, 'pause');
  await clock.advance(3_000);
  await next;
  expect(stage.row(id).status).toBe('paused');
  expect(stage.row(id).inHand.length).toBeGreaterThan(80);
});
