/** What a row may hold so that everybody can count with it, and what becomes of that which is too much. */
import { expect, test } from 'vitest';
import { EPOCH_ANEW, SPAN_MS_MAX, TIME_MS_MAX } from '../../src/store/bounds.ts';
import { cancelTask, redriveTask, rescheduleTask } from './acts.ts';
import { completed, ids, MACHINE, newTask, parked, released } from './factories.ts';
import type { PlainRow, Scene } from './harness.ts';

const UNCOUNTABLE: readonly (readonly [string, Partial<PlainRow>])[] = [
  ['an epoch that programs would round', { claim_epoch: 2 ** 53 }],
  ['an epoch below nought', { claim_epoch: -1 }],
  ['claims that one more would overflow', { claims: 2 ** 31 - 1 }],
  ['crashes that one more would overflow', { crashes: 2 ** 31 - 1 }],
  ['retries that one more would overflow', { retry_count: 2 ** 31 - 1 }],
  ['a generation of nought', { generation: 0 }],
  ['a key for ever', { key: 'k', key_ms: Number.MAX_SAFE_INTEGER }],
  ['a due time after the year 9999', { runAfterMs: 1e15 }],
  ['a deadline after the year 9999', { deadlineAfterMs: 1e15 }],
  ['a version that no machine can have', { version: 0 }],
  ["a recovery of FleetQ's own", { machine: 'recovery/sweep' }],
];

export function describeBounds(scene: Scene): void {
  test.each(UNCOUNTABLE)('a row with %s is refused', async (_, row) => {
    await expect(scene.harness.insertPlain({ machine: MACHINE, ...row })).rejects.toThrow();
    expect(await scene.rowCount('step_tracker')).toBe(0);
  });

  test('an epoch without room above it begins anew, and fences as before', async () => {
    const alder = await scene.pod('alder');
    const id = await scene.harness.insertPlain({
      machine: MACHINE,
      payload: '{}',
      claim_epoch: Number.MAX_SAFE_INTEGER,
    });
    const beside = await scene.enqueue();
    const claims = await scene.claim(alder);
    expect(ids(claims).toSorted()).toEqual([id, beside].toSorted());
    const first = claims.find(({ task }) => task === id)!;
    expect(first.epoch).toBe(EPOCH_ANEW + 1);
    await scene.store.settle(alder, [parked(first, 'sleep', 0), released(claims[1]!)]);
    const again = (await scene.claim(alder)).find(({ task }) => task === id)!;
    expect(again.epoch).toBeGreaterThan(first.epoch);
    expect(await scene.store.settle(alder, [completed(first), completed(again)])).toEqual([
      { task: id, kind: 'lost' },
      { task: id, kind: 'stood' },
    ]);
  });

  test.each(['cancel', 'failHopeless'] as const)(
    'an epoch without room above it does not stop a %s',
    async (verb) => {
      const machine = 'sample/nobody';
      const claim_epoch = Number.MAX_SAFE_INTEGER;
      const id = await scene.harness.insertPlain({ machine, claim_epoch });
      await scene.pass(60_000);
      if (verb === 'cancel') await cancelTask(scene.store, id as never, 'enough');
      else expect(await scene.store.failHopeless(1_000, 10)).toHaveLength(1);
      expect(await scene.row(id)).toMatchObject({ epoch: EPOCH_ANEW + 1 });
    },
  );

  test('counts at their bound stay there, and the task goes its way', async () => {
    const alder = await scene.pod('alder');
    const row = { machine: MACHINE, claims: 1e9, retry_count: 1e9 };
    const id = await scene.harness.insertPlain(row);
    const claim = await scene.claimOne(alder);
    const settled = await scene.store.settle(alder, [
      parked(claim, 'retry', 60_000, { retriesAdd: 1 }),
    ]);
    expect(settled).toEqual([{ task: id, kind: 'stood' }]);
    expect(await scene.row(id)).toMatchObject({ claims: 1e9, retryCount: 1e9 });
  });

  test('crashes at their bound end the task like any crash loop', async () => {
    const alder = await scene.pod('alder');
    const id = await scene.harness.insertPlain({ machine: MACHINE, crashes: 1e9 });
    await scene.claimOne(alder, { head: 'suspect' });
    await scene.kill(alder);
    const by = await scene.pod('birch');
    const spread = { countMax: 10, crashed: 'all', spreadMs: 0 } as const;
    await scene.store.take({ from: alder, by, to: 'pool', ...spread });
    expect(await scene.row(id)).toMatchObject({ status: 'failed', outcome: 'crashLoop' });
  });

  test('a life of a key, a deadline and a wait without end are cut, and harm nobody', async () => {
    const alder = await scene.pod('alder');
    const endless = Number.MAX_VALUE;
    const id = await scene.enqueue({ key: 'k', keyMs: endless, deadlineMs: endless });
    expect((await scene.row(id)).deadlineAt).toBeLessThan(TIME_MS_MAX);
    expect((await scene.rawRow(id))['key_ms']).toSatisfy((ms) => Number(ms) === SPAN_MS_MAX);
    const claim = await scene.claimOne(alder);
    expect(await scene.store.settle(alder, [completed(claim)])).toEqual([
      { task: id, kind: 'stood' },
    ]);
    const [far, at] = [
      await scene.enqueue({ due: { afterMs: endless } }),
      await scene.enqueue({ due: { at: endless } }),
    ];
    expect(await rescheduleTask(scene.store, far, { at: endless })).toBe('done');
    expect(await rescheduleTask(scene.store, at, { afterMs: endless })).toBe('done');
    expect((await scene.row(far)).runAt).toBe(TIME_MS_MAX);
    expect(await redriveTask(scene.store, id, { generation: 1 }, { isFresh: true })).toBe(2);
  });

  test('a payload over the limit is not handed over; its size is told', async () => {
    const alder = await scene.pod('alder');
    const payload = JSON.stringify('ü'.repeat(600));
    const [large, small] = [await scene.enqueue({ payload }), await scene.enqueue()];
    const told = [
      { task: large, payload: undefined, oversizeBytes: 1_202 },
      { task: small, payload: '{}', oversizeBytes: undefined },
    ];
    expect(await scene.claim(alder, { payloadBytesMax: 1_201 })).toMatchObject(told);
    expect(await scene.store.held(alder, '', 10, 1_201)).toMatchObject(told);
    const [whole] = await scene.store.held(alder, '', 10, 1_202);
    expect(whole).toMatchObject({ payload, oversizeBytes: undefined });
  });

  test('what goes back to the pool comes without its payload, what the taker gets with it', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    await scene.claimNew(alder);
    await scene.kill(alder);
    const how = { countMax: 10, crashed: 'none', spreadMs: 0 } as const;
    const [kept] = await scene.store.take({ from: alder, by: birch, to: 'taker', ...how });
    expect(kept).toMatchObject({ status: 'claimed', payload: '{}' });
    await scene.kill(birch);
    const by = await scene.pod('cedar');
    const [given] = await scene.store.take({ from: birch, by, to: 'pool', ...how });
    expect(given).toMatchObject({ status: 'pending', payload: undefined });
  });

  test('what a check of the answers throws takes back all that was enqueued with it', async () => {
    const first = await scene.enqueue({ key: 'k', payload: '1' });
    const batch = [newTask(), newTask({ key: 'k', payload: '2' }), newTask({ key: 'other' })];
    const refusing = scene.store.enqueue(batch, (answers) => {
      expect(answers.map(({ isNew }) => isNew)).toEqual([true, false, true]);
      expect(answers[1]).toMatchObject({ id: first, payload: '1' });
      throw new RangeError('not like this');
    });
    await expect(refusing).rejects.toThrow('not like this');
    expect(await scene.rowCount('step_tracker')).toBe(1);
    await scene.enqueue({ key: 'other' });
  });
}
