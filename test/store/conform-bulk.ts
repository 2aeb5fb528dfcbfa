/** What people do to many tasks: begun once, worked off by one shift at a time, paused, resumed, ended. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import {
  type BulkAnswer,
  type BulkOrder,
  type BulkRow,
  type BulkTally,
  type NewBulk,
  shiftOf,
} from '../../src/store/bulk/bulks.ts';
import { nothingDone } from '../../src/store/bulk/decide.ts';
import { cancelTask, doTo } from './acts.ts';
import { HOUR, newId } from './factories.ts';
import type { Scene } from './harness.ts';

let count = 0;

export function newBulk(options: Partial<NewBulk> = {}): NewBulk {
  const id = newId();
  count += 1;
  return {
    id,
    requestId: `begin-${count}`,
    who: 'ann',
    via: 'test',
    what: 'cancel',
    deed: JSON.stringify({ what: 'cancel', reason: 'a flood' }),
    filter: 'status:pending',
    isMasked: false,
    rate: 50,
    countMax: undefined,
    shift: shiftOf(id, newId()),
    ...options,
  };
}

export function orderFor(id: string, order: BulkOrder['order'], requestId?: string): BulkOrder {
  count += 1;
  const words = { requestId: requestId ?? `order-${count}`, who: 'ann', via: 'test' };
  return { id, ...words, order, shift: shiftOf(id, newId()) };
}

const items = (size: number) =>
  Array.from({ length: size }, () => ({ task: newId(), generation: 1 }));
const tallyOf = (done: number, refused = 0): BulkTally => ({
  ...nothingDone,
  done,
  refused,
  refusals: refused > 0 ? { ended: refused } : {},
  samples: items(refused).map(({ task }) => ({ task, why: 'ended', detail: 'it is completed' })),
});

const word = (answer: BulkAnswer) =>
  answer.kind === 'refused' ? answer.why : `${answer.kind} ${answer.bulk.status}`;

export function describeBulk(scene: Scene): void {
  const find = async (id: string): Promise<BulkRow> => {
    const reader = await scene.store.openReader();
    try {
      const [row] = await reader.bulks({ ids: [id], countMax: 1 });
      expect(row, `bulk operation ${id}`).toBeDefined();
      return row!;
    } finally {
      await reader.close();
    }
  };
  /** One that a shift is at, with a page of three in its hands. */
  const inWork = async (options: Partial<NewBulk> = {}) => {
    const bulk = newBulk(options);
    await scene.store.beginBulk(bulk);
    const { epoch } = (await scene.store.takeBulk({ id: bulk.id, run: bulk.shift.id, token: 7 }))!;
    const inHand = items(3);
    const read = { found: 3, cursor: 'further' };
    await scene.store.saveBulk({ id: bulk.id, epoch, inHand, read });
    return { id: bulk.id, run: bulk.shift.id, epoch, inHand };
  };
  const order = async (id: string, what: 'pause' | 'resume' | 'cancel') =>
    word(await scene.store.orderBulk(orderFor(id, { what })));

  test('a bulk operation begins with its shift and its row in the log, once', async () => {
    const bulk = newBulk({ countMax: 10 });
    const { shift, requestId: _, ...same } = bulk;
    const { bulk: begun, isRepeated } = await scene.store.beginBulk(bulk);
    expect(isRepeated).toBe(false);
    expect(begun).toMatchObject({ ...same, status: 'running', found: 0, shiftRun: shift.id });
    expect(await scene.row(shift.id)).toMatchObject({
      machine: 'fleet/bulk',
      status: 'pending',
      payload: JSON.stringify({ bulk: bulk.id }),
    });
    const again = { ...bulk, id: newId(), shift: shiftOf('another', newId()) };
    expect(await scene.rival.beginBulk(again)).toMatchObject({
      bulk: { id: bulk.id, filter: bulk.filter, deed: bulk.deed },
      isRepeated: true,
    });
    expect(await scene.store.find([again.shift.id])).toEqual([]);
    const logged = await scene.harness.rows('audit_log');
    expect(logged).toMatchObject([{ id: bulk.requestId, who: 'ann', what: 'bulk' }]);
    const another = scene.store.beginBulk({ ...again, filter: 'status:failed' });
    await expect(another).rejects.toMatchObject({ code: 'FLEETQ_REQUEST_REUSED' });
  });

  test('a bulk operation that asks for too much, or in too many words, is refused', async () => {
    for (const bad of [{ rate: 0 }, { rate: 1e6 }, { countMax: 0 }, { who: 'x'.repeat(201) }]) {
      const begun = scene.store.beginBulk(newBulk(bad));
      await expect(begun).rejects.toMatchObject({ code: 'FLEETQ_STORE_REFUSED' });
    }
    expect(await scene.rowCount('step_tracker')).toBe(0);
    expect(await scene.rowCount('audit_log')).toBe(0);
  });

  test('only the run that is its shift, and its latest owner, gets it', async () => {
    const { id, run } = await inWork();
    expect(await scene.store.takeBulk({ id, run: newId(), token: 9 })).toBeUndefined();
    expect(await scene.store.takeBulk({ id: newId(), run, token: 9 })).toBeUndefined();
    expect(await scene.rival.takeBulk({ id, run, token: 8 })).toMatchObject({ epoch: 2, token: 8 });
    expect(await scene.store.takeBulk({ id, run, token: 7 })).toBeUndefined();
  });

  test('what a shift saves that has been taken over is not written', async () => {
    const { id, run, epoch, inHand } = await inWork();
    await scene.rival.takeBulk({ id, run, token: 8 });
    const late = { id, epoch, inHand: [], tally: tallyOf(3) };
    expect(await scene.store.saveBulk(late)).toBeUndefined();
    expect(await find(id)).toMatchObject({ found: 3, done: 0, inHand, cursor: 'further' });
  });

  test('what is done for one is done while it goes on, by the shift that is at it', async () => {
    const [first, second, third] = [newId(), newId(), newId()];
    for (const id of [first, second, third]) await scene.enqueue({ id });
    const { id, run, epoch } = await inWork();
    const pause = (task: RunId, at: number, isDryRun = false) =>
      doTo(scene.store, task, { what: 'pause' }, { bulk: { id, epoch: at }, isDryRun });
    expect(await pause(first, epoch)).toBe('done');
    expect(await pause(second, epoch + 1)).toBe('fenced');
    const { epoch: later } = (await scene.rival.takeBulk({ id, run, token: 8 }))!;
    expect(await pause(second, epoch)).toBe('fenced');
    expect(await pause(second, later)).toBe('done');
    await order(id, 'pause');
    expect(await pause(third, later)).toBe('fenced');
    expect(await pause(third, later, true), 'a look changes nothing').toBe('done');
    expect(await scene.row(third)).toMatchObject({ isPaused: false });
  });

  test('a shift cannot be made to stand still, for its operation would', async () => {
    const { run } = await inWork();
    expect(await doTo(scene.store, run, { what: 'pause' })).toBe('unfit');
    const due = { afterMs: HOUR };
    expect(await doTo(scene.store, run, { what: 'reschedule', due })).toBe('unfit');
  });

  test('a request id of a bulk operation is not for others', async () => {
    const task = await scene.enqueue();
    const asked = doTo(scene.store, task, { what: 'pause' }, { requestId: `bulk:x:${task}:1` });
    await expect(asked).rejects.toMatchObject({ code: 'FLEETQ_STORE_REFUSED' });
  });

  test('counts are added up, samples are kept up to a bound, and the end of the list ends it', async () => {
    const { id, epoch } = await inWork();
    const first = await scene.store.saveBulk({ id, epoch, inHand: [], tally: tallyOf(1, 2) });
    expect(first).toMatchObject({ done: 1, refused: 2, status: 'running' });
    const last = { inHand: items(40), read: { found: 40, cursor: undefined } };
    expect(await scene.store.saveBulk({ id, epoch, ...last })).toMatchObject({ isRead: true });
    const tally = tallyOf(0, 40);
    expect(
      await scene.store.saveBulk({ id, epoch, inHand: [], tally, expected: 43 }),
    ).toBeDefined();
    const row = await find(id);
    expect(row).toMatchObject({ status: 'completed', found: 43, done: 1, refused: 42 });
    expect(row).toMatchObject({ expected: 43, refusals: { ended: 42 }, inHand: [] });
    expect(row.samples).toHaveLength(20);
    expect(row.endedAt).toBeDefined();
    expect(await scene.store.saveBulk({ id, epoch, inHand: [], tally })).toBeUndefined();
  });

  test('a pause is asked for, confirmed by the shift, and what is in hand is kept for the next', async () => {
    const { id, run, epoch, inHand } = await inWork();
    expect(await order(id, 'pause')).toBe('requested pausing');
    expect(await order(id, 'pause')).toBe('already pausing');
    const left = inHand.slice(1);
    await scene.store.saveBulk({ id, epoch, inHand: left, tally: tallyOf(1) });
    expect(await find(id)).toMatchObject({ status: 'paused', done: 1, inHand: left });
    expect(await scene.store.takeBulk({ id, run, token: 9 })).toBeUndefined();
    const resume = orderFor(id, { what: 'resume' });
    expect(word(await scene.store.orderBulk(resume))).toBe('done running');
    expect(await scene.row(resume.shift.id)).toMatchObject({ status: 'pending' });
    expect(await scene.store.takeBulk({ id, run, token: 9 })).toBeUndefined();
    const taking = { id, run: resume.shift.id, token: 1 };
    expect(await scene.store.takeBulk(taking)).toMatchObject({ inHand: left, shift: 2 });
  });

  test('a pause that is taken back before the shift has seen it leaves the shift at it', async () => {
    const { id, run, epoch } = await inWork();
    await order(id, 'pause');
    expect(await order(id, 'resume')).toBe('done running');
    expect(await scene.store.saveBulk({ id, epoch, inHand: [] })).toMatchObject({
      status: 'running',
      shift: 1,
      shiftRun: run,
    });
  });

  test('a cancellation ends it at the next save, at once where it is paused, and for good', async () => {
    const { id, epoch, inHand } = await inWork();
    expect(await order(id, 'cancel')).toBe('requested cancelling');
    const left = inHand.slice(2);
    await scene.store.saveBulk({ id, epoch, inHand: left, tally: tallyOf(2) });
    expect(await find(id)).toMatchObject({ status: 'cancelled', found: 3, done: 2, inHand: [] });
    expect(await order(id, 'cancel')).toBe('already cancelled');
    expect(await order(id, 'resume')).toBe('ended');
    const other = await inWork();
    await order(other.id, 'pause');
    await scene.store.saveBulk({ id: other.id, epoch: other.epoch, inHand: [] });
    expect(await order(other.id, 'cancel')).toBe('done cancelled');
    expect(await order(newId(), 'cancel')).toBe('unknown');
  });

  test('an order is obeyed once under one request id, which stands for nothing else', async () => {
    const { id } = await inWork();
    const pause = orderFor(id, { what: 'pause' }, 'pause-once');
    await scene.store.orderBulk(pause);
    await order(id, 'resume');
    expect(await scene.rival.orderBulk(pause)).toMatchObject({ isRepeated: true });
    expect((await find(id)).status).toBe('running');
    const other = scene.store.orderBulk(orderFor(id, { what: 'cancel' }, 'pause-once'));
    await expect(other).rejects.toMatchObject({ code: 'FLEETQ_REQUEST_REUSED' });
    const logged = await scene.harness.rows('audit_log');
    const whats = logged.map((row) => row['what']).sort();
    expect(whats).toEqual(['bulk', 'bulk.pause', 'bulk.resume']);
  });

  test('the pace is changed while it goes on', async () => {
    const { id, epoch } = await inWork();
    const pace = (rate: number) => scene.store.orderBulk(orderFor(id, { what: 'pace', rate }));
    expect(word(await pace(7))).toBe('done running');
    expect(word(await pace(7))).toBe('already running');
    await expect(pace(0)).rejects.toMatchObject({ code: 'FLEETQ_STORE_REFUSED' });
    expect(await scene.store.saveBulk({ id, epoch, inHand: [] })).toMatchObject({ rate: 7 });
  });

  test('one whose shift has ended without it gets another by the next order', async () => {
    const { id, run } = await inWork();
    expect(await order(id, 'resume')).toBe('already running');
    await cancelTask(scene.store, run, 'by mistake');
    expect(await order(id, 'resume')).toBe('done running');
    const { shift, shiftRun } = await find(id);
    expect(shift).toBe(2);
    await cancelTask(scene.store, shiftRun, 'by mistake');
    expect(await order(id, 'cancel')).toBe('requested cancelling');
    const third = (await find(id)).shiftRun;
    expect(await scene.row(third)).toMatchObject({ status: 'pending' });
    expect(await scene.store.takeBulk({ id, run: third, token: 1 })).toMatchObject({ shift: 3 });
  });

  test('a shift hands over to the next in one step, and gets it no more', async () => {
    const { id, run, epoch } = await inWork();
    const next = shiftOf(id, newId());
    const saved = await scene.store.saveBulk({ id, epoch, inHand: [], tally: tallyOf(3), next });
    expect(saved).toMatchObject({ shiftRun: next.id, shift: 2, done: 3 });
    expect(await scene.row(next.id)).toMatchObject({ status: 'pending' });
    expect(await scene.store.takeBulk({ id, run, token: 9 })).toBeUndefined();
    const { epoch: second } = (await scene.store.takeBulk({ id, run: next.id, token: 1 }))!;
    await order(id, 'pause');
    const unused = shiftOf(id, newId());
    await scene.store.saveBulk({ id, epoch: second, inHand: [], next: unused });
    expect(await scene.store.find([unused.id as RunId])).toEqual([]);
  });

  test('they are listed newest first, page by page', async () => {
    const ids: string[] = [];
    for (let made = 0; made < 3; made += 1) {
      const bulk = newBulk();
      ids.unshift(bulk.id);
      await scene.store.beginBulk(bulk);
    }
    const reader = await scene.store.openReader();
    const page = async (before?: string) =>
      (await reader.bulks({ before, countMax: 2 })).map(({ id }) => id);
    expect(await page()).toEqual(ids.slice(0, 2));
    expect(await page(ids[1])).toEqual(ids.slice(2));
    expect(await page('')).toEqual([]);
    await reader.close();
  });

  test('retention removes what has ended long ago, and nothing that has not', async () => {
    const open = await inWork();
    const { id, epoch } = await inWork();
    await order(id, 'cancel');
    await scene.store.saveBulk({ id, epoch, inHand: [] });
    await scene.pass(2 * HOUR);
    expect(await scene.store.hasOld(3 * HOUR)).toBe(false);
    expect(await scene.store.hasOld(HOUR)).toBe(true);
    await scene.store.prune(HOUR, 100);
    const reader = await scene.store.openReader();
    expect(await reader.bulks({ countMax: 9 })).toMatchObject([{ id: open.id }]);
    await reader.close();
  });
}
