/** However calls and answers overtake each other, every run is settled once, with all of its history. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SEED } from '../ground/seed.ts';
import { claimRequest, completed, hashAt } from '../store/factories.ts';
import { BIRCH, type Plan, raceScene, type Scene } from './race-scene.ts';

const RUNS = 400 * Number(process.env['FLEETQ_PROPERTY_TIMES'] ?? 1);

const plans = fc.array(
  fc.record<Plan>({
    recordCount: fc.integer({ min: 1, max: 4 }),
    isFlushed: fc.boolean(),
    end: fc.constantFrom('completed', 'released', 'parked'),
  }),
  { minLength: 1, maxLength: 3 },
);
const losses = fc.array(fc.boolean(), { maxLength: 8 });
const rivals = fc.record({ isCancelled: fc.boolean(), isSwept: fc.boolean() });

test('settler, archiver, a person who cancels and a sweep may meet in any order', {
  timeout: 600_000,
}, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), plans, losses, rivals, async (s, planned, lost, rival) => {
      const losing = [...lost];
      const scene = await raceScene(s, planned, () => losing.shift() ?? false);
      const runs = planned.map((_, index) => scene.run(index));
      const cancelling = rival.isCancelled ? scene.cancel(0) : undefined;
      const sweeping = rival.isSwept ? scene.sweep() : undefined;
      await s.waitFor(Promise.all([...runs, cancelling, sweeping]).then(() => scene.leave()));
      expect(scene.overs).toEqual(planned.map(() => 1));
      expect([scene.holdings.size, scene.holdings.unflushed]).toEqual([0, 0]);
      await endTheRest(scene);
      await checkRows(scene, await cancelling, seen);
    }),
    { numRuns: RUNS, seed: SEED },
  );
  // Each of the two must have won somewhere, or nothing has met.
  expect([...seen].sort()).toEqual(['cancelled', 'completed by alder', 'completed by birch']);
});

/** Whatever was given back is nobody's: another pod can end it. */
async function endTheRest({ direct }: Scene): Promise<void> {
  for (const task of await direct.claim(claimRequest(BIRCH))) {
    await direct.settle(BIRCH, [completed(task, { result: '"birch"' })]);
  }
}

async function checkRows(
  { direct, tasks, written }: Scene,
  cancelAnswer: string | undefined,
  seen: Set<string>,
): Promise<void> {
  expect(await direct.violations()).toEqual([]);
  for (const [index, claim] of tasks.entries()) {
    const [row] = await direct.find([claim.task]);
    expect(row?.finishedAt, `task ${index} has ended`).toBeDefined();
    const owner = row!.epoch === claim.epoch ? 'alder' : 'birch';
    // A result is of whoever held the task when it ended, never of one who had lost it.
    if (row!.status === 'completed') expect(row!.result).toBe(`"${owner}"`);
    else expect([index, cancelAnswer]).toEqual([0, expect.stringMatching(/^(done|requested)$/)]);
    seen.add(row!.status === 'cancelled' ? 'cancelled' : `completed by ${owner}`);
    // I14: what the store has of an epoch is a beginning of what its owner wrote, without a hole.
    const parts = (await direct.histories([claim])).filter(({ epoch }) => epoch === claim.epoch);
    const seqs = parts.flatMap(({ events }) => JSON.parse(events) as { seq: number }[]);
    expect(seqs.map(({ seq }) => seq)).toEqual(written[index]!.slice(0, seqs.length));
    for (const { firstSeq, prevHash } of parts) {
      expect(prevHash).toBe(hashAt(claim.task, firstSeq - 1));
    }
    if (owner === 'alder') expect(seqs).toHaveLength(written[index]!.length);
  }
}
