/** The cheapest cases of `npm run proof -- pod-faults`, once and short, side by side. */
import { expect, test } from 'vitest';
import { type Case, playRounds } from './pod-faults.ts';

const SIZES = { tasks: 500, refusedMs: 8_000, cloneMs: 8_000 };

async function brokenIn(name: Case) {
  const rounds = await playRounds({ cases: [name], rounds: 1, sizes: SIZES });
  return rounds.flatMap(({ promised }) => promised.filter(({ isKept }) => !isKept));
}

test('full slots delay no recovery, and refused registrations leave nothing behind', async () => {
  const cases: readonly Case[] = ['full-slots', 'refused-registration'];
  expect((await Promise.all(cases.map(brokenIn))).flat()).toEqual([]);
}, 120_000);
