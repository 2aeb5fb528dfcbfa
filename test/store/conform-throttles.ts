/** What a fleet knows of the APIs it calls: one row each, written by one leader at a time. */
import { expect, test } from 'vitest';
import type { BeatAnswer } from '../../src/store/pods.ts';
import type { ThrottleOrder } from '../../src/store/throttles.ts';
import type { PodId } from '../../src/store/words.ts';
import { podOf, type Scene } from './harness.ts';

export function describeThrottles(scene: Scene): void {
  const publish = (api: string, epoch: number, state: string) =>
    scene.store.publishThrottles([{ api, epoch, state }]);
  let count = 0;
  const change = (order: ThrottleOrder, more: object = {}) => {
    const of = { requestId: `order-${++count}`, who: 'ann', via: 'test', order };
    return scene.store.changeThrottle({ ...of, ...more });
  };
  const order = async (given: ThrottleOrder) => (await change(given)).kind === 'done';
  const beat = async (pod: PodId, more: { leads?: boolean; report?: object } = {}) => {
    const row = (await scene.store.pods()).find((one) => one.pod === pod);
    const news = { nonce: `${pod}-${row!.seq}`, lsn: 0, report: {}, ...more } as const;
    return taken(await scene.store.beat({ pod, seq: row!.seq, ...news } as never));
  };

  test('what a leader publishes comes with every heartbeat, with its age', async () => {
    const alder = await scene.pod('alder');
    await publish('llm', 0, '{"cap":8}');
    await scene.pass(5_000);
    const { throttles, reports } = await beat(alder);
    expect(throttles).toMatchObject([{ api: 'llm', epoch: 1, state: '{"cap":8}' }]);
    expect(throttles[0]!.ageMs).toBeGreaterThanOrEqual(4_900);
    expect(throttles[0]!.ageMs).toBeLessThan(60_000);
    expect(throttles[0]!.pinned).toBeUndefined();
    expect(reports).toBeUndefined();
  });

  test('a heartbeat brings the hundred that were published last, whatever their names', async () => {
    const alder = await scene.pod('alder');
    await publish('an old one', 0, 'state');
    await publish('zebra', 0, 'state');
    await scene.pass(1_000);
    const young = Array.from({ length: 99 }, (_, index) => `api-${100 + index}`);
    const words = young.map((api) => ({ api, epoch: 0, state: 'state' }));
    await scene.store.publishThrottles([...words, { api: 'zebra', epoch: 1, state: 'new' }]);
    const { throttles } = await beat(alder);
    expect(throttles.map(({ api }) => api).sort()).toEqual([...young, 'zebra']);
  });

  test('of two leaders that have seen the same, one writes', async () => {
    await publish('llm', 0, 'first');
    await publish('llm', 0, 'second');
    await publish('llm', 7, 'third');
    expect(await scene.store.throttles()).toMatchObject([{ epoch: 1, state: 'first' }]);
    await publish('llm', 1, 'next');
    expect(await scene.store.throttles()).toMatchObject([{ epoch: 2, state: 'next' }]);
  });

  test('only whoever leads is told what all pods say of the APIs they call', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    await beat(birch, { report: { throttles: { llm: { d: 3 } } } });
    await scene.kill(await scene.pod('cedar'));
    expect((await beat(alder)).reports).toBeUndefined();
    const { reports } = await beat(alder, { leads: true });
    expect(reports!.map(({ pod }) => pod)).toEqual([podOf('alder'), podOf('birch')].sort());
    const found = reports!.find(({ pod }) => pod === birch)!;
    expect(found).toMatchObject({ throttles: { llm: { d: 3 } } });
    expect(found.ageMs).toBeLessThan(60_000);
  });

  test('a pin stands until it is let go of, whatever is published meanwhile', async () => {
    const early = { requestId: 'early' };
    const none = { kind: 'already', isRepeated: false };
    expect(await change({ what: 'unpin', api: 'llm' }, early)).toEqual(none);
    expect(await order({ what: 'pin', api: 'llm', cap: 5 })).toBe(true);
    // A copy of the request that found no pin comes late.
    const again = await change({ what: 'unpin', api: 'llm' }, early);
    expect(again).toEqual({ kind: 'already', isRepeated: true });
    await publish('llm', 0, 'state');
    expect(await scene.store.throttles()).toMatchObject([
      { api: 'llm', epoch: 1, state: 'state', pinned: 5, pinnedBy: 'ann' },
    ]);
    expect(await order({ what: 'unpin', api: 'llm' })).toBe(true);
    const [row] = await scene.store.throttles();
    expect([row!.pinned, row!.pinnedBy]).toEqual([undefined, undefined]);
    expect(row!.state).toBe('state');
  });

  test('what a person decides is done once, with its row, and not at all where it is tried out', async () => {
    const pin = { what: 'pin', api: 'llm', cap: 5 } as const;
    const done = { kind: 'done', isRepeated: false };
    expect(await change(pin, { requestId: 'one', isDryRun: true })).toEqual(done);
    expect(await scene.store.throttles()).toEqual([]);
    expect(await change(pin, { requestId: 'one', reason: 'they asked' })).toEqual(done);
    await order({ what: 'unpin', api: 'llm' });
    const again = await change(pin, { requestId: 'one', reason: 'they asked' });
    expect(again).toEqual({ kind: 'done', isRepeated: true });
    expect((await scene.store.throttles())[0]!.pinned).toBeUndefined();
    await expect(change({ ...pin, cap: 6 }, { requestId: 'one' })).rejects.toMatchObject({
      code: 'FLEETQ_REQUEST_REUSED',
    });
    const reader = await scene.store.openReader();
    const { rows } = await reader.audit({ countMax: 10 });
    const seen = await reader.throttles();
    await reader.close();
    expect(seen).toMatchObject([{ api: 'llm', state: undefined }]);
    const row = rows.find(({ requestId }) => requestId === 'one');
    expect(row).toMatchObject({ who: 'ann', what: 'throttle.pin' });
    const detail = { api: 'llm', cap: 5, reason: 'they asked', via: 'test' };
    expect(JSON.parse(row!.detail!)).toEqual(detail);
  });

  test('what makes no sense is refused in words', async () => {
    for (const cap of [0, -1, Number.NaN, 2_000_000]) {
      await expect(change({ what: 'pin', api: 'llm', cap }), `${cap}`).rejects.toThrow(
        /the limit of an API is a number above 0/,
      );
    }
    for (const api of ['', 'x'.repeat(201), 'a\0b']) {
      await expect(change({ what: 'reset', api })).rejects.toThrow(/the name of an API is a text/);
    }
    expect(await scene.store.throttles()).toEqual([]);
  });

  test('a pin for a time is none when that is over', async () => {
    const alder = await scene.pod('alder');
    await order({ what: 'pin', api: 'llm', cap: 2.5, forMs: 60_000 });
    expect((await beat(alder)).throttles).toMatchObject([{ pinned: 2.5 }]);
    await scene.pass(61_000);
    expect((await beat(alder)).throttles[0]!.pinned).toBeUndefined();
    expect((await scene.store.throttles())[0]!.pinnedBy).toBeUndefined();
    expect(await order({ what: 'unpin', api: 'llm' })).toBe(false);
    // Nobody lets go of it any more: it must not keep its row for ever.
    await scene.pass(100_000);
    await scene.store.prune(50_000, 100);
    expect(await scene.store.throttles()).toEqual([]);
  });

  test('whoever led finds that what it knew was forgotten: its word is not written any more', async () => {
    expect(await order({ what: 'reset', api: 'llm' })).toBe(false);
    await publish('llm', 0, 'state');
    expect(await order({ what: 'reset', api: 'llm' })).toBe(true);
    expect((await scene.store.throttles())[0]).toMatchObject({ epoch: 2, state: undefined });
    await publish('llm', 1, 'late');
    expect((await scene.store.throttles())[0]!.state).toBeUndefined();
    await publish('llm', 2, 'anew');
    expect((await scene.store.throttles())[0]).toMatchObject({ epoch: 3, state: 'anew' });
  });

  test('APIs that nobody calls any more are forgotten with the rest, unless they are pinned', async () => {
    await publish('old', 0, 'state');
    await publish('pinned', 0, 'state');
    await order({ what: 'pin', api: 'pinned', cap: 1 });
    await scene.pass(100_000);
    await publish('young', 0, 'state');
    await scene.store.prune(50_000, 100);
    expect((await scene.store.throttles()).map(({ api }) => api)).toEqual(['pinned', 'young']);
  });
}

function taken(answer: BeatAnswer): Extract<BeatAnswer, { kind: 'taken' }> {
  expect(answer.kind).toBe('taken');
  return answer as Extract<BeatAnswer, { kind: 'taken' }>;
}
