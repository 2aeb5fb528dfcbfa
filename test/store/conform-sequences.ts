/** Random sequences of everything the store can be asked, late and stale requests included. */
import * as fc from 'fast-check';
import { test } from 'vitest';
import type { Scene } from './harness.ts';
import { play } from './play.ts';
import { steps } from './random-steps.ts';

const SEQUENCE_COUNT = 30;

export function describeSequences(scene: Scene): void {
  test('random sequences keep the rules of the tables', { timeout: 300_000 }, async () => {
    const { harness } = scene;
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        await harness.reset();
        const { store, rival } = scene;
        const pass = (ms: number) => scene.pass(ms);
        await play({ store, rival, pass, insertPlain: harness.insertPlain }, sequence);
      }),
      { numRuns: harness.sequenceCount ?? SEQUENCE_COUNT, seed: 4711, endOnFailure: true },
    );
  });
}
