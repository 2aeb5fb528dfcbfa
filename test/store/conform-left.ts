/**
 * What a pod leaves behind that ended by its own word: nothing of it counts as a crash, and whoever
 * gets it is told that it was left, for it may have been inside a phase.
 */
import { expect, test } from 'vitest';
import type { TakenTask, Taking } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { completed, released, segment } from './factories.ts';
import { podOf, type Scene } from './harness.ts';

export function describeLeft(scene: Scene): void {
  const take = (from: PodId, options: Partial<Taking> = {}): Promise<TakenTask[]> => {
    const by = podOf('sweeper');
    const taking = { from, by, to: 'pool', countMax: 100, crashed: 'all', spreadMs: 0 } as const;
    return scene.store.take({ ...taking, ...options });
  };

  test('H8: leftovers of a pod that fenced itself cost nothing, whatever is said of them', async () => {
    for (const crashed of ['none', 'all', 'these'] as const) {
      const pod = await scene.pod(`alder-${crashed}`);
      const claim = await scene.claimNew(pod);
      await scene.store.markDraining(pod);
      await scene.kill(pod, pod);
      const taken = await take(pod, { crashed: crashed === 'these' ? [claim.task] : crashed });
      expect(taken).toMatchObject([{ status: 'pending', crashes: 0 }]);
      // It may have been inside a phase all the same.
      const birch = await scene.pod(`birch-${crashed}`);
      const next = await scene.claimOne(birch);
      expect(next).toMatchObject({ task: claim.task, crashes: 0, interruption: 'left' });
      expect(await scene.store.held(birch, '', 9)).toMatchObject([{ interruption: 'left' }]);
      await scene.store.settle(birch, [released(next)]);
      const again = await scene.claimOne(birch);
      expect(again.interruption).toBeUndefined();
      await scene.store.settle(birch, [completed(again)]);
    }
  });

  test('H8: a successor is told of all that its predecessor left, and counts nothing', async () => {
    const [old, successor] = [await scene.pod('alder'), await scene.pod('alder-2')];
    const [open, claim] = [await scene.claimNew(old), await scene.claimNew(old)];
    await scene.kill(old, old);
    const crashed = [open.task];
    expect(await take(old, { by: successor, to: 'taker', crashed })).toMatchObject([
      { task: open.task, status: 'claimed', crashes: 0, interruption: 'left' },
      { task: claim.task, status: 'claimed', crashes: 0, interruption: 'left' },
    ]);
  });

  test('H8: whoever gives a task back without a record leaves its interruption to the next one', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const claim = await scene.claimNew(alder);
    await scene.kill(alder);
    await take(alder);
    await scene.store.settle(birch, [released(await scene.claimOne(birch), { isUntouched: true })]);
    const again = await scene.claimOne(birch);
    expect(again).toMatchObject({ task: claim.task, interruption: 'cut' });
    await scene.store.settle(birch, [released(again)]);
    expect((await scene.claimOne(birch)).interruption).toBeUndefined();
  });

  test('H8: that an owner was cut off is told until the next one has it on record', async () => {
    const names = ['alder', 'birch', 'cedar', 'dogwood'] as const;
    const [alder, birch, cedar, dogwood] = await Promise.all(names.map((name) => scene.pod(name)));
    const { task } = await scene.claimNew(alder!);
    const interruptionOf = async (pod: PodId) => {
      const [taken] = await take(pod, { crashed: 'none' });
      return taken!.interruption;
    };
    await scene.kill(alder!);
    expect(await interruptionOf(alder!)).toBe('cut');
    await scene.claimOne(birch!);
    await scene.kill(birch!, birch!);
    expect(await interruptionOf(birch!), 'nothing of it is on record').toBe('cut');
    const third = await scene.claimOne(cedar!);
    await scene.store.archive([segment(third, 0, 1)]);
    await scene.kill(cedar!, cedar!);
    expect(await interruptionOf(cedar!), 'its records say what was before').toBe('left');
    await scene.claimOne(dogwood!);
    await scene.kill(dogwood!);
    expect(await interruptionOf(dogwood!)).toBe('cut');
    expect(await scene.row(task)).toMatchObject({ crashes: 0 });
  });

  test('I29: a task knows under which claim an owner was last cut off', async () => {
    const names = ['alder', 'birch', 'cedar', 'dogwood'] as const;
    const [alder, birch, cedar, dogwood] = await Promise.all(names.map((name) => scene.pod(name)));
    const first = await scene.claimNew(alder!);
    expect(first.cutEpoch).toBeUndefined();
    await scene.kill(alder!);
    const cut = { interruption: 'cut', cutEpoch: first.epoch };
    expect(await take(alder!)).toMatchObject([cut]);
    expect(await scene.claimOne(birch!)).toMatchObject(cut);
    expect(await scene.store.held(birch!, '', 9)).toMatchObject([cut]);
    await scene.kill(birch!, birch!);
    expect(await take(birch!), 'it left in order').toMatchObject([cut]);
    const third = await scene.claimOne(cedar!);
    await scene.kill(cedar!, dogwood!);
    const taking = { by: dogwood!, to: 'taker', crashed: [third.task] } as const;
    const again = { interruption: 'cut', cutEpoch: third.epoch };
    const [taken] = await take(cedar!, taking);
    expect(taken).toMatchObject({ status: 'pending', crashes: 2, ...again });
  });

  test('I29: a successor that was not inside a task leaves the claim that was cut off as it was', async () => {
    const [old, next] = await Promise.all(['a', 'b'].map((name) => scene.pod(name)));
    const first = await scene.claimNew(old!);
    await scene.kill(old!);
    await take(old!, { crashed: 'none' });
    await scene.claimOne(next!);
    const last = await scene.pod('c');
    await scene.kill(next!, last);
    const [taken] = await take(next!, { by: last, to: 'taker', crashed: [] });
    expect(taken).toMatchObject({ interruption: 'cut', cutEpoch: first.epoch });
  });

  test('H8: a task that was left and then taken by a successor that never ran it was left', async () => {
    const [old, next, last] = await Promise.all(['a', 'b', 'c'].map((name) => scene.pod(name)));
    await scene.claimNew(old!);
    await scene.kill(old!, old!);
    await take(old!, { by: next!, to: 'taker', crashed: [] });
    await scene.kill(next!, last!);
    const [taken] = await take(next!, { by: last!, to: 'taker', crashed: [] });
    expect(taken).toMatchObject({ crashes: 0, interruption: 'left' });
  });
}
