/** The stream: what each topic tells, when, to whom, and at what cost. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { numbered, placeIn } from '../../../src/admin/live/index.ts';
import type { PodRow } from '../../../src/store/index.ts';
import { FakeResponse, grow, Rig, runIdOf } from './rig.ts';

const RUN = runIdOf(1);
let rig: Rig;
const seqs = (response: FakeResponse) => response.of('record').map(({ seq }) => seq);

beforeEach(() => {
  rig = new Rig();
});
afterEach(() => rig.hub.stop());

describe('a run of this journal', () => {
  test('is told from the beginning and then as it is written, under headers that nobody buffers', async () => {
    rig.journal.set(RUN, { records: grow([], 1, 3) });
    const response = await rig.stream(`run:${RUN}`);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(response.text).toMatch(/^retry: 2000\n\n/);
    expect(response.told[0]).toMatchObject({ event: 'hello', data: { topics: [`run:${RUN}`] } });
    expect(seqs(response)).toEqual([0, 1, 2]);
    expect(response.of('record')[0]).toMatchObject({ run: RUN, generation: 1, epoch: 1 });
    expect(response.of('record')[0]).not.toHaveProperty('lsn');
    for (let n = 0; n < 5; n++) rig.record(RUN);
    await rig.clock.advance(100);
    expect(seqs(response)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('goes on after the last event that a client had, here and in another process', async () => {
    rig.journal.set(RUN, { records: grow([], 1, 3) });
    const first = await rig.stream(`run:${RUN}`);
    const half = first.told.find(({ data }) => data.seq === 1)!.id!;
    rig.record(RUN);
    expect(seqs(await rig.stream(`run:${RUN}`, half))).toEqual([2, 3]);
    const other = rig.anotherHub('bb');
    expect(seqs(await rig.stream(`run:${RUN}`, half, other))).toEqual([2, 3]);
    other.stop();
  });

  test('a cursor that nobody wrote is no cursor: everything is told again, after a rewind', async () => {
    rig.journal.set(RUN, { records: grow([], 1, 2) });
    const response = await rig.stream(`runs,run:${RUN}`, 'anything');
    const events = response.told.map(({ event }) => event);
    expect(events).toEqual(['hello', 'rewind', 'reset', 'record', 'record']);
    expect(response.of('rewind')[0]).toMatchObject({ run: RUN, after: -1 });
  });

  test('unknown runs are refused before anything is sent', async () => {
    const refused = rig.stream(`run:${RUN}`);
    await expect(refused).rejects.toMatchObject({ code: 'FLEETQ_RUN_NOT_FOUND' });
    expect(rig.hub.size).toBe(0);
  });

  test('whoever does not read is written to no further, and misses nothing in the end', async () => {
    rig.journal.set(RUN, { records: grow([], 1, 2) });
    const response = await rig.stream(`runs,run:${RUN}`);
    response.isFull = true;
    for (let n = 0; n < 5_000; n++) rig.record(RUN);
    await rig.clock.advance(1_000);
    const { writes } = response;
    for (let n = 0; n < 5_000; n++) rig.record(runIdOf(n));
    await rig.clock.advance(20_000);
    expect(response.writes).toBe(writes);
    expect(response.text.length).toBeLessThan(10_000);
    response.drain();
    await rig.clock.advance(5_000);
    const told = seqs(response);
    expect(told).toEqual(Array.from({ length: rig.journal.get(RUN)!.records.length }, (_, n) => n));
    expect(response.of('reset'), 'the list has left it behind').toEqual([{ topic: 'runs' }]);
  });

  test('whoever does not read holds up nobody, however far it is behind', async () => {
    rig.journal.set(RUN, { records: [...grow([], 1, 1)] });
    const [slow, quick] = [await rig.stream(`run:${RUN}`), await rig.stream(`run:${RUN}`)];
    slow.isFull = true;
    for (let n = 0; n < 400; n++) {
      rig.record(RUN, 1, 50_000);
      if (n % 100 === 0) await rig.clock.advance(100);
    }
    await rig.clock.advance(2_000);
    expect(seqs(quick)).toHaveLength(401);
    rig.record(RUN);
    await rig.clock.advance(100);
    expect(seqs(quick)).toHaveLength(402);
    expect(slow.text.length, 'of twenty megabytes').toBeLessThan(200_000);
    slow.drain();
    await rig.clock.advance(5_000);
    expect(seqs(slow)).toEqual(seqs(quick));
  });

  test('whoever reads nothing for a minute makes room', async () => {
    rig.journal.set(RUN, { records: grow([], 1, 2) });
    const response = await rig.stream(`run:${RUN}`);
    response.isFull = true;
    rig.record(RUN);
    await rig.clock.advance(90_000);
    expect(response.destroyed).toBe(true);
    expect(rig.hub.size).toBe(0);
  });
});

describe('the list', () => {
  test('is told in batches, four a second at most, each run once with its newest glance', async () => {
    const response = await rig.stream('runs');
    for (let round = 0; round < 20; round++) {
      for (let n = 0; n < 10; n++) rig.record(runIdOf(n));
      await rig.clock.advance(50);
    }
    const batches = response.of('runs');
    expect(batches.length).toBeGreaterThanOrEqual(3);
    expect(batches.length).toBeLessThanOrEqual(5);
    for (const { changes } of batches) {
      expect(new Set(changes.map(({ id }: { id: string }) => id)).size).toBe(changes.length);
      expect(changes).toHaveLength(10);
    }
    expect(batches.at(-1).changes[0].run).toMatchObject({ status: 'active', machine: 'test/one' });
  });

  test('goes on where a client was, as long as the log reaches', async () => {
    const first = await rig.stream('runs');
    rig.record(runIdOf(1));
    await rig.clock.advance(300);
    const id = first.lastId;
    first.close();
    rig.record(runIdOf(2));
    await rig.clock.advance(300);
    const [batch] = (await rig.stream('runs', id)).of('runs');
    expect(batch.changes.map(({ id: run }: { id: string }) => run)).toEqual([runIdOf(2)]);
    for (let n = 0; n < 3_000; n++) rig.record(runIdOf(n));
    expect((await rig.stream('runs', id)).of('reset'), 'too old').toHaveLength(1);
    await rig.clock.advance(300);
    const other = rig.anotherHub('bb');
    expect((await rig.stream('runs', id, other)).of('reset'), 'of another').toHaveLength(1);
    other.stop();
  });

  test('a client that stays away for long is told to look again', async () => {
    const first = await rig.stream('runs');
    const id = first.lastId;
    first.close();
    await rig.clock.advance(60_000);
    rig.record(runIdOf(2));
    expect((await rig.stream('runs', id)).of('reset')).toHaveLength(1);
  });

  test('what the store tells of is told as well, once for each change', async () => {
    rig = new Rig({ hasStore: true });
    rig.task(RUN, { status: 'pending' });
    await rig.clock.advance(10_000);
    const response = await rig.stream('runs');
    await rig.clock.advance(3_000);
    expect(response.of('runs'), 'what was there before is no change').toEqual([]);
    rig.task(RUN, { status: 'claimed', epoch: 1 });
    await rig.clock.advance(5_000);
    const changes = response.of('runs').flatMap((batch) => batch.changes);
    expect(changes).toMatchObject([{ id: RUN, task: { status: 'claimed' } }]);
  });
});

describe('a run of another pod', () => {
  beforeEach(() => {
    rig = new Rig({ hasStore: true });
    rig.task(RUN, { status: 'claimed', claimedBy: 'pod-there' as never, epoch: 1 });
    rig.archive.set(RUN, grow([], 1, 4));
  });

  test('is told as the store gets it, with its row', async () => {
    const response = await rig.stream(`run:${RUN}`);
    await rig.clock.advance(100);
    expect(seqs(response)).toEqual([0, 1, 2, 3]);
    rig.archive.set(RUN, grow(rig.archive.get(RUN)!, 1, 2));
    rig.task(RUN, { status: 'completed', finishedAt: rig.clock.now(), claimedBy: undefined });
    await rig.clock.advance(2_000);
    expect(seqs(response)).toEqual([0, 1, 2, 3, 4, 5]);
    const rows = response.of('run').map(({ task }) => task.status);
    expect(rows).toEqual(['claimed', 'completed']);
  });

  test('that is taken over here goes on without hole or double', async () => {
    const response = await rig.stream(`run:${RUN}`);
    await rig.clock.advance(100);
    rig.journal.set(RUN, { generation: 1, records: [...rig.archive.get(RUN)!] });
    rig.task(RUN, { claimedBy: 'pod-here' as never, epoch: 2 });
    for (let n = 0; n < 3; n++) rig.record(RUN, 2);
    await rig.clock.advance(2_000);
    rig.record(RUN, 2);
    await rig.clock.advance(100);
    expect(seqs(response)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(response.of('rewind')).toEqual([]);
  });

  test('that was here and is taken over there goes back to what counts', async () => {
    const records = grow(rig.archive.get(RUN)!, 1, 3);
    rig.journal.set(RUN, { generation: 1, records });
    rig.task(RUN, { claimedBy: 'pod-here' as never });
    const response = await rig.stream(`run:${RUN}`);
    await rig.clock.advance(1_500);
    expect(seqs(response)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    rig.archive.set(RUN, grow(rig.archive.get(RUN)!, 2, 2));
    rig.task(RUN, { claimedBy: 'pod-there' as never, epoch: 2 });
    await rig.clock.advance(2_000);
    expect(response.of('rewind')).toMatchObject([{ run: RUN, after: 3, why: 'replaced' }]);
    expect(seqs(response).slice(7)).toEqual([4, 5]);
    expect(response.of('record').at(-1).epoch).toBe(2);
  });

  test('that is redriven is told anew, under its new generation', async () => {
    const response = await rig.stream(`run:${RUN}`);
    await rig.clock.advance(100);
    rig.archive.set(RUN, grow([], 7, 2));
    rig.task(RUN, { generation: 2, epoch: 7 });
    await rig.clock.advance(2_000);
    expect(response.of('rewind')).toMatchObject([{ generation: 2, after: -1, why: 'redriven' }]);
    expect(seqs(response)).toEqual([0, 1, 2, 3, 0, 1]);
    expect(response.of('record').at(-1).generation).toBe(2);
  });

  test('costs one question a second, however many look on, and one look when it has grown', async () => {
    const others = [runIdOf(2), runIdOf(3)];
    for (const id of others) {
      rig.task(id, { status: 'claimed', claimedBy: 'pod-there' as never });
      rig.archive.set(id, grow([], 1, 4));
    }
    const topics = ['runs', ...[RUN, ...others].map((id) => `run:${id}`)].join(',');
    const all: FakeResponse[] = [];
    for (let n = 0; n < 40; n++) all.push(await rig.stream(topics));
    await rig.clock.advance(2_000);
    const before = { ...rig.asked };
    for (const id of [RUN, ...others]) rig.archive.set(id, grow(rig.archive.get(id)!, 1, 1));
    await rig.clock.advance(10_000);
    expect(rig.asked.watch - before.watch).toBeLessThanOrEqual(11);
    expect(rig.asked.outlines - before.outlines).toBe(1);
    expect(all.every((response) => seqs(response).length === 15)).toBe(true);
  });

  test('while the store is away clients know, and what is here goes on', async () => {
    const own = runIdOf(9);
    rig.journal.set(own, { records: grow([], 1, 1) });
    const response = await rig.stream(`run:${RUN},run:${own}`);
    await rig.clock.advance(100);
    rig.isAway = true;
    await rig.clock.advance(3_000);
    expect(response.of('stale')).toHaveLength(1);
    rig.record(own);
    await rig.clock.advance(100);
    expect(response.of('record').filter(({ run }) => run === own)).toHaveLength(2);
    await expect(rig.stream(`run:${runIdOf(10)}`)).rejects.toThrow('away');
    rig.isAway = false;
    await rig.clock.advance(3_000);
    expect(response.of('fresh')).toHaveLength(1);
  });

  test('whose records cannot be read is told as such, and the others go on', async () => {
    const own = runIdOf(9);
    rig.journal.set(own, { records: grow([], 1, 1) });
    rig.archive.set(RUN, grow([], 1, 4).slice(1));
    const response = await rig.stream(`run:${RUN},run:${own}`);
    await rig.clock.advance(10_000);
    expect(response.of('broken')).toMatchObject([{ run: RUN, code: 'FLEETQ_BROKEN_HISTORY' }]);
    rig.record(own);
    await rig.clock.advance(100);
    expect(response.of('record').map(({ run }) => run)).toEqual([own, own]);
  });
});

describe('pods', () => {
  const pod = (name: string, part: Partial<PodRow> = {}) =>
    ({ pod: name, name, status: 'up', silentMs: 1, ...part }) as unknown as PodRow;

  test('are told as a whole first, then those that have changed', async () => {
    rig = new Rig({ hasStore: true });
    rig.pods = [pod('alder'), pod('birch')];
    const response = await rig.stream('pods');
    await rig.clock.advance(5_000);
    expect(response.of('pods')).toMatchObject([{ isWhole: true, pods: [{}, {}] }]);
    rig.pods = [pod('alder', { silentMs: 900 }), pod('cedar')];
    await rig.clock.advance(5_000);
    expect(response.of('pods').slice(1)).toMatchObject([
      { isWhole: false, pods: [{ pod: 'cedar' }], gone: ['birch'] },
    ]);
    const late = await rig.stream('pods');
    expect(late.of('pods')).toMatchObject([{ isWhole: true, pods: [{}, {}] }]);
    expect(rig.asked.pods, 'one look for all').toBeLessThanOrEqual(6);
  });

  test('are none where there is no store', async () => {
    expect((await rig.stream('pods')).of('pods')).toEqual([{ isWhole: true, pods: [], gone: [] }]);
  });
});

describe('those who look on', () => {
  test('hear that it is alive, and are no more than there is room for', async () => {
    const all: FakeResponse[] = [];
    for (let n = 0; n < 64; n++) all.push(await rig.stream('runs'));
    await expect(rig.stream('runs')).rejects.toMatchObject({
      code: 'FLEETQ_TOO_MANY_FOLLOWERS',
      status: 429,
    });
    all[0]!.close();
    await rig.stream('runs');
    await rig.clock.advance(15_000);
    expect(all[1]!.text).toContain(': alive\n\n');
  });

  test('are told when the process leaves, and nobody is let in any more', async () => {
    rig.journal.set(RUN, { records: grow([], 1, 2) });
    const response = await rig.stream(`run:${RUN}`);
    const follower = new FakeResponse();
    await rig.hub.follow(RUN, numbered(-1), follower as unknown as ServerResponse);
    rig.hub.leave();
    expect(response.told.at(-1)).toMatchObject({ event: 'bye' });
    expect(response.hasEnded).toBe(true);
    await expect(rig.stream('runs')).rejects.toMatchObject({
      code: 'FLEETQ_DRAINING',
      status: 503,
    });
    await rig.clock.advance(100);
    expect(follower.hasEnded, 'who follows one run of it is served to the end').toBe(false);
    rig.hub.stop();
    expect(follower.hasEnded).toBe(true);
  });

  test('are told no more once their session is over, and leave nothing behind', async () => {
    rig.journal.set(RUN, { records: grow([], 1, 2) });
    let isOver = false;
    const asked = { topics: 'runs', isOver: async () => isOver };
    const [stream, follower] = [new FakeResponse(), new FakeResponse()];
    await rig.hub.stream(asked, stream as unknown as ServerResponse);
    await rig.hub.follow(RUN, numbered(-1), follower as unknown as ServerResponse, asked);
    await rig.clock.advance(5_000);
    expect([stream.hasEnded, follower.hasEnded]).toEqual([false, false]);
    isOver = true;
    await rig.clock.advance(1_100);
    expect(stream.told.at(-1)).toMatchObject({ event: 'bye', data: { why: 'session' } });
    expect([stream.hasEnded, follower.hasEnded]).toEqual([true, true]);
    await rig.clock.advance(31_000);
    expect(rig.clock.timerCount).toBe(0);
  });

  test('are told that the store is away, and back, also where they took nothing just then', async () => {
    rig = new Rig({ hasStore: true });
    const response = await rig.stream('runs');
    response.isFull = true;
    rig.task(RUN, { status: 'pending' });
    await rig.clock.advance(2_000);
    rig.isAway = true;
    await rig.clock.advance(2_000);
    expect(response.of('stale')).toEqual([]);
    response.drain();
    await rig.clock.advance(1_500);
    expect(response.of('stale')).toHaveLength(1);
    rig.isAway = false;
    await rig.clock.advance(2_000);
    expect([response.of('stale').length, response.of('fresh').length]).toEqual([1, 1]);
  });

  test('leave nothing behind: no timer, and nobody listens', async () => {
    rig = new Rig({ hasStore: true });
    rig.task(RUN, { status: 'pending' });
    const response = await rig.stream(`runs,pods,run:${RUN}`);
    await rig.clock.advance(3_000);
    response.close();
    await rig.clock.advance(31_000);
    expect(rig.clock.timerCount).toBe(0);
    const { watch } = rig.asked;
    await rig.clock.advance(10_000);
    expect(rig.asked.watch).toBe(watch);
  });

  test('see no more than they may', async () => {
    rig.journal.set(RUN, { records: grow([], 1, 1) });
    const response = new FakeResponse();
    const view = { record: ({ seq }: { seq: number }) => ({ seq }), task: () => ({}) };
    await rig.hub.stream({ topics: `run:${RUN}`, view }, response as unknown as ServerResponse);
    await rig.clock.advance(0);
    expect(response.of('record')).toEqual([{ run: RUN, generation: 1, seq: 0 }]);
  });
});

describe('who follows one run, and comes back', () => {
  const follow = async (id: string) => {
    const response = new FakeResponse();
    await rig.hub.follow(RUN, placeIn(id)!, response as unknown as ServerResponse);
    await rig.clock.advance(1_200);
    return response;
  };

  beforeEach(async () => {
    rig = new Rig({ hasStore: true });
    rig.task(RUN, { generation: 1, status: 'failed', finishedAt: 5 });
    rig.archive.set(RUN, grow([], 1, 4));
  });

  test('goes on behind the record it names', async () => {
    const first = await follow('0');
    expect(seqs(first)).toEqual([1, 2, 3]);
    const { id } = first.told.find(({ data }) => data.seq === 2)!;
    expect(seqs(await follow(id!))).toEqual([3]);
  });

  test('has every record of the generation that a redrive has begun, and is told that it is another', async () => {
    const { id } = (await follow('0')).told.find(({ data }) => data.seq === 2)!;
    rig.task(RUN, { generation: 2, status: 'completed' });
    rig.archive.set(RUN, grow([], 7, 4));
    const again = await follow(id!);
    expect(again.of('rewind')).toEqual([{ generation: 2, after: -1, why: 'redriven' }]);
    expect(seqs(again)).toEqual([0, 1, 2, 3]);
  });

  test('has every record that took the place of the one it names', async () => {
    const { id } = (await follow('0')).told.find(({ data }) => data.seq === 3)!;
    rig.archive.set(RUN, grow(grow([], 1, 2), 2, 3));
    const again = await follow(id!);
    expect(again.of('rewind')).toEqual([{ generation: 1, after: -1, why: 'replaced' }]);
    expect(seqs(again)).toEqual([0, 1, 2, 3, 4]);
  });

  test.each(['', 'x', '1.2', '1.1.1.zz', '1.1.1.aa.1', '-1'])('%j is no place', (id) => {
    expect(placeIn(id)).toBeUndefined();
  });
});
