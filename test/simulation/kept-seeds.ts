/** Seeds that have found something once: they are simulated first, for ever. */
import { readFileSync } from 'node:fs';
import { writeWhole } from '../support/save-leg.ts';
import type { SeedOrder } from './campaign.ts';
import type { Failure } from './tally.ts';

interface SizedSeed {
  readonly seed: number;
  /** It was found with fewer tasks; at its full size it is another course. */
  readonly isSmall?: boolean;
}

export interface Kept extends SizedSeed {
  /** What it had found. */
  readonly found: string;
  /** It was found with deploys; the others were kept before there were any. */
  readonly deploys?: boolean;
  /** It was found with runs that have deadlines. */
  readonly deadlines?: boolean;
  /** It was found while the clock of the store was set. */
  readonly storeClock?: boolean;
  /** It was found while people paused, resumed, retried and redrove tasks. */
  readonly people?: boolean;
}

const FILE = new URL('./seeds.json', import.meta.url);
const FOUND_LENGTH_MAX = 90;

/** Each at the size at which it has found something. */
export function keptSeeds(): SeedOrder[] {
  return read().map(({ seed, isSmall = false }) => ({ seed, isSmall }));
}

/** Those that are kept, each at its own size, and then the others. */
export function keptFirst(fresh: readonly SeedOrder[], kept = keptSeeds()): SeedOrder[] {
  const known = new Set(kept.map(nameOf));
  return [...kept, ...fresh.filter((order) => !known.has(nameOf(order)))];
}

/** Every second seed has deploys; those that are kept have what they had when they found something. */
export function deploysIn(seed: number): boolean {
  const kept = read().find((one) => one.seed === seed);
  return kept ? kept.deploys === true : seed % 2 === 0;
}

/** Every third seed has runs with deadlines; of those that are kept, those that had. */
export function deadlinesIn(seed: number): boolean {
  const kept = read().find((one) => one.seed === seed);
  return kept ? kept.deadlines === true : seed % 3 === 0;
}

/** In one seed of five the clock of the store is set; of those that are kept, in those where it was. */
export function setsStoreClock(seed: number): boolean {
  const kept = read().find((one) => one.seed === seed);
  return kept ? kept.storeClock === true : seed % 5 === 4;
}

/** In one seed of seven people change tasks; of those that are kept, in those where they did. */
export function peopleIn(seed: number): boolean {
  const kept = read().find((one) => one.seed === seed);
  return kept ? kept.people === true : seed % 7 === 6;
}

/** All that a seed has by its number, for whoever simulates it elsewhere. */
export function traitsOf(seed: number) {
  return {
    hasDeploys: deploysIn(seed),
    hasDeadlines: deadlinesIn(seed),
    hasPeople: peopleIn(seed),
    setsStoreClock: setsStoreClock(seed),
  };
}

/** Adds those that are not there yet. */
export function keepSeeds(failures: readonly Failure[]): void {
  writeWhole(FILE, `${JSON.stringify(withFailures(read(), failures), null, 2)}\n`);
}

export function withFailures(kept: readonly Kept[], failures: readonly Failure[]): Kept[] {
  const known = new Set(kept.map(nameOf));
  const added = failures
    .filter((failure) => !known.has(nameOf(failure)))
    .map(({ seed, isSmall, violation }) => {
      const found = violation.slice(0, FOUND_LENGTH_MAX);
      const deadlines = deadlinesIn(seed) ? { deadlines: true } : {};
      const storeClock = setsStoreClock(seed) ? { storeClock: true } : {};
      const people = peopleIn(seed) ? { people: true } : {};
      const more = { ...deadlines, ...storeClock, ...people, ...(isSmall ? { isSmall } : {}) };
      return { seed, found, deploys: deploysIn(seed), ...more };
    });
  return [...kept, ...added].sort((a, b) => a.seed - b.seed);
}

function nameOf({ seed, isSmall = false }: SizedSeed): string {
  return `${seed} ${isSmall}`;
}

function read(): Kept[] {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}
