/**
 * Claims that a lost server had given, and that the one which took over has not heard of.
 * Where no other can take over, there is nothing to restore.
 */
import { expect, test } from 'vitest';
import { claimOf, completed } from './factories.ts';
import type { Scene } from './harness.ts';

export function describeRestore(scene: Scene): void {
  /** A task that is open, and a claim on it from a future that was lost. */
  const lose = async () => {
    const pod = await scene.pod('alder');
    const id = await scene.enqueue();
    const { epoch } = (await scene.store.find([id]))[0]!;
    return { pod, id, claim: { task: id, generation: 1, epoch: epoch + 5 } };
  };

  test('a claim that was lost with its server is given back under its own epoch, and settles', async ({
    skip,
  }) => {
    if (!scene.store.restore) return skip();
    const { pod, id, claim } = await lose();
    expect(await scene.store.restore!(pod, [claim])).toEqual([id]);
    const [row] = await scene.store.find([id]);
    expect(row).toMatchObject({ status: 'claimed', claimedBy: pod, epoch: claim.epoch });
    // Once more, since the answer may have been lost: it is not open any more.
    expect(await scene.store.restore!(pod, [claim])).toEqual([]);
    expect(await scene.store.settle(pod, [completed(claim)])).toMatchObject([{ kind: 'stood' }]);
  });

  test('nothing is given back that somebody has had since, has ended, or is of another generation', async ({
    skip,
  }) => {
    if (!scene.store.restore) return skip();
    const { pod, id, claim } = await lose();
    const restore = (epoch: number, generation = 1) =>
      scene.store.restore!(pod, [{ ...claim, epoch, generation }]);
    expect(await restore(claim.epoch, 2)).toEqual([]);
    const birch = await scene.pod('birch');
    const theirs = await scene.claimOne(birch);
    expect(await restore(theirs.epoch + 9)).toEqual([]);
    await scene.store.settle(birch, [completed(claimOf(theirs))]);
    expect(await restore(theirs.epoch + 9)).toEqual([]);
    expect((await scene.store.find([id]))[0]).toMatchObject({ epoch: theirs.epoch });
  });

  test('a pod that is dead is given nothing back', async ({ skip }) => {
    if (!scene.store.restore) return skip();
    const { pod, claim } = await lose();
    await scene.store.fence(pod, pod, 'proved');
    expect(await scene.store.restore!(pod, [claim])).toEqual([]);
  });
}
