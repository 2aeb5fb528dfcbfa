/** The cheapest cases of `npm run proof -- pod-faults`, once and short. */
import { expect, test } from 'vitest';
import { playRounds } from './pod-faults.ts';

test('full slots delay no recovery, and refused registrations leave nothing behind', async () => {
  const rounds = await playRounds({
    cases: ['full-slots', 'refused-registration'],
    rounds: 1,
    sizes: { tasks: 500, refusedMs: 8_000, cloneMs: 8_000 },
  });
  const broken = rounds.flatMap(({ promised }) => promised.filter(({ isKept }) => !isKept));
  expect(broken).toEqual([]);
}, 120_000);
