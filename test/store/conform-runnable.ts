/** What no pod could ever run is refused where it comes in. */
import { expect, test } from 'vitest';
import { StoreRefusedError } from '../../src/store/errors.ts';
import { MACHINE, newTask } from './factories.ts';
import type { Scene } from './harness.ts';

const NOT_RUNNABLE = [
  ['version 0', { version: 0 }, /version of .* must be 1 or more, got 0/],
  ['a version below nought', { version: -1 }, /must be 1 or more, got -1/],
  ["a recovery of FleetQ's own", { machine: 'recovery/sweep' }, /must not begin with recovery\//],
] as const;

export function describeRunnable(scene: Scene): void {
  test.each(NOT_RUNNABLE)(
    'a task of %s is refused, and all that came with it',
    async (_, wrong, said) => {
      const putting = scene.store.enqueue([newTask(), newTask(wrong)]);
      await expect(putting).rejects.toThrow(StoreRefusedError);
      await expect(putting).rejects.toThrow(said);
      await expect(putting).rejects.toHaveProperty('hint');
      expect(await scene.rowCount('step_tracker')).toBe(0);
    },
  );

  test('a recovery that its own pod shows, pinned to its journal, is let in', async () => {
    const journal = 'journal-alder';
    const alder = await scene.pod('alder', { journal });
    const run = { id: newTask().id, machine: 'recovery/sweep', version: 1, payload: '{}' };
    const shown = { ...run, journal, deadlineMs: undefined, startedAgoMs: 0 };
    expect(await scene.store.mirror(alder, [shown])).toMatchObject([{ kind: 'held' }]);
  });

  test('an unknown version of a known machine stays, however long', async () => {
    await scene.store.announce([{ route: `${MACHINE}@1`, fingerprint: 'f', shape: 's' }]);
    const id = await scene.enqueue({ version: 999_999 });
    await scene.pass(86_400_000);
    expect(await scene.store.failHopeless(60_000, 10)).toEqual([]);
    expect(await scene.row(id)).toMatchObject({ status: 'pending' });
  });
}
