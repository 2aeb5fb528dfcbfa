/** A simulation that finds nothing proves little: so bugs are planted, and each has to be found. */
import { expect, test } from 'vitest';
import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';

const SEED_COUNT_MAX = 400;

/** The first seed that notices, and what it says. */
async function firstToNotice(mutant: (typeof MUTANTS)[number]): Promise<string | undefined> {
  const seeds = Array.from({ length: SEED_COUNT_MAX }, (_, index) => index + 1);
  for (const seed of [...(mutant.seeds ?? []), ...seeds]) {
    const { violations } = await simulate(seed, { mutant, isSmall: true });
    if (violations[0]) return violations[0];
  }
  return undefined;
}

for (const mutant of MUTANTS) {
  test(`${mutant.name} is noticed`, { timeout: 300_000 }, async () => {
    expect(await firstToNotice(mutant)).toMatch(mutant.breaks);
  });
}
