/** Seeds that have found something once: they are simulated first, for ever. */
import { readFileSync } from 'node:fs';
import { writeWhole } from '../../test/support/save-leg.ts';
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
  /** It was found with serial keys, and queues that have limits or stand still. */
  readonly flow?: boolean;
  /** It was found with tasks that follow others. */
  readonly followers?: boolean;
  /** It was found while pods were on their own for longer than they may count on their claims. */
  readonly islands?: boolean;
  /** It was found with a store that had lost commits when another server took over. */
  readonly failovers?: boolean;
  /** It was found while something was wrong with one pod, and nobody put that right. */
  readonly lasting?: boolean;
}

/** What only some seeds have. */
export interface Traits {
  /** Pods have code of different versions. */
  readonly hasDeploys: boolean;
  /** There are runs with deadlines. */
  readonly hasDeadlines: boolean;
  /** The clock of the store is set meanwhile. */
  readonly setsStoreClock: boolean;
  /** People change tasks meanwhile. */
  readonly hasPeople: boolean;
  /** Tasks take turns, and queues have limits or stand still. */
  readonly hasFlow: boolean;
  /** Tasks follow others. */
  readonly hasFollowers: boolean;
  /** Pods are without the store for longer than they may count on their claims. */
  readonly hasIslands: boolean;
  /** Another server takes over, which has not all commits. */
  readonly hasFailovers: boolean;
  /** Something is wrong with one pod until all is done without it. */
  readonly hasLasting: boolean;
}

type Word = Exclude<keyof Kept, 'seed' | 'isSmall' | 'found'>;

/**
 * Each by the number of the seed: so a seed has few of them at once. One that is kept has what it had
 * when it found something, by these words.
 */
const BY_NUMBER: Readonly<Record<keyof Traits, readonly [Word, every: number, rest: number]>> = {
  hasDeploys: ['deploys', 2, 0],
  hasDeadlines: ['deadlines', 3, 0],
  setsStoreClock: ['storeClock', 5, 4],
  hasPeople: ['people', 7, 6],
  hasFlow: ['flow', 8, 1],
  hasFollowers: ['followers', 8, 5],
  hasIslands: ['islands', 8, 7],
  hasFailovers: ['failovers', 8, 3],
  hasLasting: ['lasting', 3, 1],
};

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

/** All that a seed has by its number, for whoever simulates it elsewhere. */
export function traitsOf(seed: number): Traits {
  const kept = read().find((one) => one.seed === seed);
  const has = ([word, every, rest]: (typeof BY_NUMBER)[keyof Traits]) =>
    kept ? kept[word] === true : seed % every === rest;
  const entries = Object.entries(BY_NUMBER).map(([trait, rule]) => [trait, has(rule)]);
  const traits = Object.fromEntries(entries) as unknown as Traits;
  // What people, clocks and deadlines had come to may be lost as well: nobody could say what is right.
  const without = { hasDeadlines: false, hasPeople: false, setsStoreClock: false };
  return traits.hasFailovers ? { ...traits, ...without } : traits;
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
      const traits = traitsOf(seed);
      const rules = Object.entries(BY_NUMBER) as [keyof Traits, (typeof BY_NUMBER)['hasFlow']][];
      const words = rules.filter(([trait]) => traits[trait]).map(([, [word]]) => [word, true]);
      const size = isSmall ? { isSmall } : {};
      return { seed, found, deploys: false, ...Object.fromEntries(words), ...size };
    });
  return [...kept, ...added].sort((a, b) => a.seed - b.seed);
}

function nameOf({ seed, isSmall = false }: SizedSeed): string {
  return `${seed} ${isSmall}`;
}

function read(): Kept[] {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}
