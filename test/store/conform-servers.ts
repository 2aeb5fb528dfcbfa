/**
 * Writes that are meant for one server of the store, and come to another: it may lack what the one before
 * had said, so it writes nothing before whoever sent them knows. Where no other can take over, nobody asks.
 */
import { expect, test } from 'vitest';
import { StoreBusyError } from '../../src/store/index.ts';
import { claimOf, claimRequest, completed, segment } from './factories.ts';
import type { Scene } from './harness.ts';

const ANOTHER = '0000FFFF';

export function describeServers(scene: Scene): void {
  /** A claim, and the server that has given it. */
  const claimed = async () => {
    const pod = await scene.pod('alder');
    const id = await scene.enqueue();
    const claim = claimOf(await scene.claimOne(pod));
    const answer = await scene.store.beat({ pod, seq: 0, nonce: 'n', lsn: 0, report: {} });
    if (answer.kind !== 'taken') throw new Error('its heartbeat was refused');
    return { pod, id, claim, timeline: answer.timeline };
  };

  test('what is meant for another server is neither settled nor archived, whatever has become of the claim', async ({
    skip,
  }) => {
    const { store } = scene;
    if (!store.restore) return skip();
    const { pod, id, claim, timeline } = await claimed();
    const gone = { ...claim, epoch: claim.epoch + 1 };
    const records = segment(claim, 0, 1);
    for (const given of [claim, gone]) {
      const settling = store.settle(pod, [completed(given)], ANOTHER);
      await expect(settling).rejects.toBeInstanceOf(StoreBusyError);
    }
    await expect(store.archive([records], ANOTHER)).rejects.toBeInstanceOf(StoreBusyError);
    expect(await store.histories([{ task: id, generation: 1 }])).toEqual([]);
    expect((await store.find([id]))[0]).toMatchObject({ status: 'claimed', epoch: claim.epoch });
    expect(await store.archive([records], timeline)).toMatchObject([{ kind: 'held' }]);
    expect(await store.settle(pod, [completed(gone)], timeline)).toMatchObject([{ kind: 'lost' }]);
    expect(await store.settle(pod, [completed(claim)], timeline)).toMatchObject([
      { kind: 'stood' },
    ]);
  });

  test('what a pod holds is told by no server but the one that was asked', async ({ skip }) => {
    const { store } = scene;
    if (!store.restore) return skip();
    const { pod, id, timeline } = await claimed();
    const asked = [pod, '', 10, undefined] as const;
    await expect(store.held(...asked, ANOTHER)).rejects.toBeInstanceOf(StoreBusyError);
    expect(await store.held(...asked, timeline)).toMatchObject([{ task: id }]);
  });

  test('a claim that is meant for another server is given nothing', async ({ skip }) => {
    const { store } = scene;
    if (!store.restore) return skip();
    const { pod, timeline } = await claimed();
    await scene.enqueue();
    expect(await store.claim({ ...claimRequest(pod), timeline: ANOTHER })).toEqual([]);
    expect(await store.claim({ ...claimRequest(pod), timeline })).toHaveLength(1);
  });
}
