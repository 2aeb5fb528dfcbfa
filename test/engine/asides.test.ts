/** Runs that stand still: their number is bound by the disk, not by memory. */
import { expect, test } from 'vitest';
import { ASIDE_COUNT_MAX, Asides } from '../../src/engine/asides.ts';
import { endingOf } from '../../src/engine/endings.ts';
import { RunTable } from '../../src/engine/run-table.ts';
import { runIdMint } from '../../src/ground/index.ts';
import { DamagedRunError, type Journal } from '../../src/journal/index.ts';
import { Registry } from '../../src/machine/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const mint = runIdMint(new FakeClock(), seededRandom(1));
const blocked = { status: 'blocked', reason: 'no machine m is here' } as const;

test('I35: of runs that stand still only so many are kept in memory, the latest', () => {
  const asides = new Asides();
  const first = mint();
  asides.set(first, blocked);
  for (let count = 0; count < 2 * ASIDE_COUNT_MAX; count += 1) asides.set(mint(), blocked);
  expect(asides.blockedCount).toBe(ASIDE_COUNT_MAX);
  expect(asides.has(first)).toBe(false);
});

test('a run that stands still is of one kind, and neither crowds the other out', () => {
  const asides = new Asides();
  const id = mint();
  asides.set(id, blocked);
  asides.set(id, { status: 'quarantined', reason: 'its records are damaged' });
  for (let count = 0; count < 2 * ASIDE_COUNT_MAX; count += 1) asides.set(mint(), blocked);
  expect(asides.get(id)).toMatchObject({ status: 'quarantined' });
  asides.delete(id);
  expect(asides.has(id)).toBe(false);
});

test('who waits for a run whose reason is not kept gets it from the records', async () => {
  const runs = new RunTable();
  const id = mint();
  const journal = {
    find: () => ({ id }),
    history: () => {
      throw new DamagedRunError(id, 'the hash does not fit');
    },
  } as unknown as Journal;
  runs.setAside.set(id, { status: 'quarantined', reason: 'damaged' });
  for (let count = 0; count < ASIDE_COUNT_MAX; count += 1) {
    runs.setAside.set(mint(), { status: 'quarantined', reason: 'damaged' });
  }
  expect(runs.setAside.has(id)).toBe(false);
  const ending = endingOf(runs, { journal, registry: new Registry([]) }, id, undefined);
  await expect(ending).rejects.toMatchObject({ code: 'FLEETQ_RUN_SET_ASIDE' });
});
