/** What several legs have looked at, each thing once: a sum would count what was looked at again. */
import type { Leg } from '../../test/support/save-leg.ts';

/** Seeds: those of the same size once, and those that are run first with every leg once in all. */
export function distinctSeeds(legs: readonly Leg[]): number | undefined {
  const seen = new Set<string>();
  let kept = 0;
  for (const { command, figures } of legs) {
    const { from, to, seeds } = figures as Partial<Record<'from' | 'to' | 'seeds', number>>;
    if (from === undefined || to === undefined || seeds === undefined) return undefined;
    const size = / --small\b/.test(command) ? 'small' : 'full';
    for (let seed = from; seed <= to; seed++) seen.add(`${size} ${seed}`);
    kept = Math.max(kept, seeds - (to - from + 1));
  }
  return seen.size + kept;
}

/** Mutants by their names; `isCaught` for those alone that were caught in one of the legs. */
export function distinctMutants(legs: readonly Leg[], isCaught = false): number | undefined {
  const seen = new Set<string>();
  for (const { figures } of legs) {
    const mutants = figures['mutants'] as { name: string; verdict: string }[] | undefined;
    if (!mutants) return undefined;
    for (const { name, verdict } of mutants) {
      if (!isCaught || verdict === 'caught') seen.add(name);
    }
  }
  return seen.size;
}
