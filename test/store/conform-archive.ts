/** History: segments that come late, twice, longer or forked; and runs of a host shown to the fleet. */
import { expect, test } from 'vitest';
import type { MirroredRun } from '../../src/store/tasks.ts';
import type { Claim } from '../../src/store/words.ts';
import { cancelTask, redriveTask } from './acts.ts';
import {
  claimOf,
  completed,
  failed,
  HOUR,
  hashAt,
  MACHINE,
  MINUTE,
  newId,
  newTask,
  parked,
  released,
  segment,
} from './factories.ts';
import { expectNear, type Scene } from './harness.ts';

export function describeArchive(scene: Scene): void {
  const held = (task: string) => [{ task, kind: 'held' }];

  test('segments are kept as they came, and read in the order of epochs and numbers', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const first = await scene.claimNew(alder);
    const [a, b] = [segment(first, 0, 2), segment(first, 3, 5)];
    expect(await scene.store.archive([b, a])).toEqual([...held(first.task), ...held(first.task)]);
    await scene.store.settle(alder, [released(first)]);
    const second = await scene.claimOne(birch);
    const c = segment(second, 6, 7);
    const other = await scene.claimNew(alder);
    const d = segment(other, 0, 0);
    await scene.store.archive([d, c]);
    expect(await scene.store.histories([other, first])).toEqual([a, b, c, d]);
    expect(await scene.store.histories([{ task: first.task, generation: 2 }])).toEqual([]);
  });

  test('how segments lie is told without what is in them, and records of one from a number on', async () => {
    const claim = await scene.claimNew(await scene.pod('alder'));
    const [a, b] = [segment(claim, 0, 4), segment(claim, 5, 6)];
    await scene.store.archive([b, a]);
    const outlined = [a, b].map(({ events: _, ...outline }) => outline);
    const reader = await scene.store.openReader();
    for (const store of [scene.store, reader]) {
      expect(await store.outlines([claim])).toEqual(outlined);
      const records = async (fromSeq: number, bytesMax: number, firstSeq = 0) => {
        const texts = await store.recordsIn({ ...claimOf(claim), firstSeq, fromSeq, bytesMax });
        return texts.map((text) => (JSON.parse(text) as { seq: number }).seq);
      };
      const [text] = await store.recordsIn({
        ...claimOf(claim),
        firstSeq: 0,
        fromSeq: 1,
        bytesMax: 1,
      });
      expect(JSON.parse(text!)).toEqual({ seq: 1, hash: hashAt(claim.task, 1) });
      expect(await records(0, 1e6)).toEqual([0, 1, 2, 3, 4]);
      expect(await records(3, 1e6)).toEqual([3, 4]);
      expect(await records(1, text!.length * 2)).toEqual([1, 2]);
      expect(await records(1, 1)).toEqual([1]);
      expect(await records(6, 1e6, 5)).toEqual([6]);
      expect(await records(5, 1e6)).toEqual([]);
      expect(await records(0, 1e6, 9)).toEqual([]);
    }
    await reader.close();
  });

  test('of a segment that holds no records none is told', async () => {
    const claim = await scene.claimNew(await scene.pod('alder'));
    const [broken, odd] = [segment(claim, 0, 1), segment(claim, 2, 3)];
    await scene.store.archive([
      { ...broken, events: '[{"seq":0' },
      { ...odd, events: '{"seq":2}' },
    ]);
    for (const firstSeq of [0, 2]) {
      const part = { ...claimOf(claim), firstSeq, fromSeq: firstSeq, bytesMax: 1e6 };
      expect(await scene.store.recordsIn(part)).toEqual([]);
    }
  });

  test('nothing to write and nothing to read answer nothing', async () => {
    expect(await scene.store.archive([])).toEqual([]);
    expect(await scene.store.histories([])).toEqual([]);
    expect(await scene.store.mirror(await scene.pod('alder'), [])).toEqual([]);
  });

  test('a flush that is sent again changes nothing (I15)', async () => {
    const claim = await scene.claimNew(await scene.pod('alder'));
    const tail = segment(claim, 0, 3);
    await scene.store.archive([tail]);
    expect(await scene.rival.archive([tail])).toEqual(held(claim.task));
    expect(await scene.store.histories([claim])).toEqual([tail]);
  });

  test('H25: a longer segment of the same beginning replaces the shorter, and never the reverse', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const [short, long] = [segment(claim, 0, 2), segment(claim, 0, 3)];
    await scene.store.archive([short]);
    expect(await scene.store.archive([long])).toEqual(held(claim.task));
    expect(await scene.store.archive([short])).toEqual(held(claim.task));
    expect(await scene.store.histories([claim])).toEqual([long]);
    const whole = segment(claim, 0, 5);
    await scene.store.settle(pod, [completed(claim, { tail: whole })]);
    expect(await scene.store.histories([claim])).toEqual([whole]);
    expect((await scene.row(claim.task)).lastSeq).toBe(5);
  });

  test('other records under the same numbers are a fork: said aloud, and never written over', async () => {
    const claim = await scene.claimNew(await scene.pod('alder'));
    const mine = segment(claim, 0, 3);
    await scene.store.archive([mine]);
    const [forked] = await scene.store.archive([segment(claim, 0, 3, 'other')]);
    expect(forked).toMatchObject({ task: claim.task, kind: 'forked', reason: expect.any(String) });
    expect(await scene.store.histories([claim])).toEqual([mine]);
    const longer = { ...segment(claim, 0, 5), prevHash: 'another past' };
    expect(await scene.store.archive([longer])).toMatchObject([{ kind: 'forked' }]);
    expect(await scene.store.histories([claim])).toEqual([mine]);
  });

  test('a longer segment that does not begin with what is there is a fork', async () => {
    const claim = await scene.claimNew(await scene.pod('alder'));
    const mine = segment(claim, 0, 3);
    await scene.store.archive([mine]);
    expect(await scene.store.archive([segment(claim, 0, 5, 'other')])).toMatchObject([
      { task: claim.task, kind: 'forked' },
    ]);
    expect(await scene.store.histories([claim])).toEqual([mine]);
  });

  test('a shorter segment that is no beginning of what is there is a fork too', async () => {
    const claim = await scene.claimNew(await scene.pod('alder'));
    const mine = segment(claim, 0, 3);
    await scene.store.archive([mine]);
    const answers = await scene.store.archive([segment(claim, 0, 1, 'other')]);
    expect(answers).toMatchObject([{ task: claim.task, kind: 'forked' }]);
    expect(await scene.store.histories([claim])).toEqual([mine]);
  });

  test('H2: a late flush after a hand-over stays in its own epoch, beside the next owner’s', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const old = await scene.claimNew(alder);
    const shown = segment(old, 0, 4);
    await scene.store.settle(alder, [released(old, { tail: shown })]);
    const next = await scene.claimOne(birch);
    const nextOwn = segment(next, 5, 6);
    await scene.store.archive([nextOwn]);
    const late = segment(old, 5, 5, 'late');
    expect(await scene.rival.archive([late])).toEqual(held(old.task));
    expect(await scene.store.histories([old])).toEqual([shown, late, nextOwn]);
    expect((await scene.row(old.task)).lastSeq).toBe(4);
  });

  test('I19: whoever gets a task is told the record at which it was left, and a redrive begins anew', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const claim = await scene.claimNew(alder);
    expect(claim.lastHash).toBeUndefined();
    const tail = segment(claim, 0, 4);
    const left = { lastSeq: 4, lastHash: tail.lastHash };
    await scene.store.settle(alder, [released(claim, { tail })]);
    expect(await scene.row(claim.task)).toMatchObject(left);
    const next = await scene.claimOne(alder);
    // An archive is no settlement: what it brings may yet be another's history.
    await scene.store.archive([segment(next, 5, 6)]);
    expect(await scene.store.held(alder, '', 10)).toMatchObject([left]);
    await scene.kill(alder);
    const taking = { from: alder, by: birch, to: 'taker', countMax: 10, spreadMs: 0 } as const;
    expect(await scene.store.take({ ...taking, crashed: 'none' })).toMatchObject([left]);
    const [mine] = await scene.store.held(birch, '', 10);
    expect(mine).toMatchObject(left);
    await scene.store.settle(birch, [failed(mine!, { tail: segment(mine!, 7, 8) })]);
    expect((await scene.row(claim.task)).lastHash).toBe(hashAt(claim.task, 8));
    await redriveTask(scene.store, claim.task, { generation: 1 }, { isFresh: false });
    expect((await scene.row(claim.task)).lastHash).toBeUndefined();
    expect((await scene.claimOne(birch)).lastHash).toBeUndefined();
  });

  test('H3: each run’s history is its own: completing one leaves the other’s as it is', async () => {
    const pod = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    await scene.store.archive([segment(b, 0, 1)]);
    await scene.store.settle(pod, [completed(a, { tail: segment(a, 0, 6) })]);
    expect(await scene.store.histories([b])).toEqual([segment(b, 0, 1)]);
    await scene.store.settle(pod, [failed(b, { tail: segment(b, 2, 4) })]);
    expect(await scene.store.histories([b])).toEqual([segment(b, 0, 1), segment(b, 2, 4)]);
  });

  test('the furthest record of a run is the last one of its last epoch', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const old = await scene.claimNew(alder);
    await scene.store.archive([segment(old, 3, 9), segment(old, 0, 2)]);
    const head = (claim: Claim, lastSeq: number, branch = '') => ({
      ...claimOf(claim),
      lastSeq,
      lastHash: hashAt(claim.task, lastSeq, branch),
    });
    const untouched = await scene.claimNew(birch);
    expect(await scene.store.heads([])).toEqual([]);
    expect(await scene.store.heads([untouched, old])).toEqual([head(old, 9)]);
    await scene.store.settle(alder, [released(old)]);
    const next = await scene.claimOne(birch);
    await scene.store.archive([segment(next, 5, 6, 'next')]);
    expect(await scene.store.heads([old])).toEqual([head(next, 6, 'next')]);
    // How a generation ended is kept with its history, and is no record of the run.
    await scene.store.settle(birch, [failed(next, { tail: segment(next, 7, 7) })]);
    await redriveTask(scene.store, old.task, { generation: 1 }, { isFresh: false });
    const generations = [old, { task: old.task, generation: 2 }];
    expect(await scene.store.heads(generations)).toEqual([head(next, 7)]);
  });

  test('a history that was written again as a whole reaches beyond what had been there of it', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await scene.store.archive([segment(claim, 0, 0), segment(claim, 1, 1), segment(claim, 2, 3)]);
    const whole = { ...segment(claim, 0, 6), state: 'completed' };
    expect(await scene.store.archive([whole])).toEqual(held(claim.task));
    const head = { ...claimOf(claim), lastSeq: 6, lastHash: hashAt(claim.task, 6) };
    expect(await scene.store.heads([claim])).toEqual([head]);
    const reader = await scene.store.openReader();
    expect(await reader.lastSegments([claim])).toEqual([whole]);
    await reader.close();
    const asked = { followed: [claim.task], others: [], sinceMs: undefined, countMax: 9 };
    expect((await scene.store.watch(asked)).heads).toEqual([head]);
    // So it has told its end, which nobody cancels any more.
    await scene.store.settle(pod, [released(claim)]);
    expect(await cancelTask(scene.store, claim.task, 'late')).toBe('tooLate');
  });

  test('a segment the store cannot hold is refused; the others are held', async () => {
    const { poison } = scene.harness;
    const pod = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    const answers = await scene.store.archive([
      { ...segment(a, 0, 1), events: `["${poison}"]` },
      segment(b, 0, 1),
    ]);
    expect(answers).toMatchObject([
      { task: a.task, kind: 'refused', reason: expect.any(String) },
      { task: b.task, kind: 'held' },
    ]);
  });

  describeMirror(scene);
}

function describeMirror(scene: Scene): void {
  const run = (options: Partial<MirroredRun> = {}): MirroredRun => ({
    id: newId(),
    machine: MACHINE,
    version: 1,
    payload: '{"local":true}',
    journal: 'journal-alder',
    deadlineMs: undefined,
    startedAgoMs: 5 * MINUTE,
    ...options,
  });

  test('a run of a host is shown claimed by its pod and pinned to its journal', async () => {
    const pod = await scene.pod('alder');
    const mirrored = run({ deadlineMs: HOUR });
    const [answer] = await scene.store.mirror(pod, [mirrored]);
    expect(answer).toMatchObject({ kind: 'held', task: mirrored.id, generation: 1 });
    const row = await scene.row(mirrored.id);
    const pinnedTo = 'journal-alder';
    expect(row).toMatchObject({ status: 'claimed', claimedBy: pod, pinnedTo, generation: 1 });
    expect(row.epoch).toBe((answer as { epoch: number }).epoch);
    expect(row.epoch).toBeGreaterThanOrEqual(1);
    expectNear(row.updatedAt - row.createdAt, 5 * MINUTE);
    // Counted from its start, like that of any other task.
    expectNear(row.deadlineAt! - row.createdAt, HOUR);
    expect(await scene.rival.mirror(pod, [mirrored])).toEqual([answer]);
  });

  test('a mirrored run is settled by its owner like any other', async () => {
    const pod = await scene.pod('alder');
    const mirrored = run();
    const [claim] = await scene.store.mirror(pod, [mirrored]);
    expect(claim?.kind).toBe('held');
    const settled = await scene.store.settle(pod, [completed(claim as never)]);
    expect(settled).toEqual([{ task: mirrored.id, kind: 'stood' }]);
  });

  test('H15: what another owner has is not touched, and a dead pod mirrors nothing', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const theirs = await scene.claimNew(birch);
    const before = await scene.row(theirs.task);
    const waiting = (await scene.store.enqueue([newTask()]))[0]!.id;
    const runs = [run({ id: theirs.task }), run({ id: waiting })];
    const answers = await scene.store.mirror(alder, runs);
    expect(answers).toEqual([
      { task: theirs.task, kind: 'foreign' },
      { task: waiting, kind: 'foreign' },
    ]);
    expect(await scene.row(theirs.task)).toEqual(before);
    await scene.kill(alder);
    const late = run();
    expect(await scene.store.mirror(alder, [late])).toEqual([{ task: late.id, kind: 'foreign' }]);
    expect(await scene.store.find([late.id])).toEqual([]);
  });

  test('H16: a pinned task that was parked or released goes to its own journal only', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const [a, b] = [run(), run()];
    const claims = await scene.store.mirror(alder, [a, b]);
    await scene.store.settle(alder, [
      released(claims[0] as never),
      parked(claims[1] as never, 'sleep', 0),
    ]);
    const other = await scene.enqueue();
    expect((await scene.claim(birch)).map(({ task }) => task)).toEqual([other]);
    const next = await scene.pod('alder-again', { journal: 'journal-alder' });
    const claimed = await scene.claim(next, { journal: 'journal-alder' });
    expect(
      claimed
        .map(claimOf)
        .map(({ task }) => task)
        .sort(),
    ).toEqual([a.id, b.id]);
    expect(claimed[0]).toMatchObject({ pinnedTo: 'journal-alder' });
  });
}
