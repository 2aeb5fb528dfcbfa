/** Seeds that have found something once: they are simulated first, for ever. */
import { readFileSync } from 'node:fs';
import { writeWhole } from '../support/save-leg.ts';
import type { Failure } from './tally.ts';

interface Kept {
  readonly seed: number;
  /** What it had found. */
  readonly found: string;
  /** It was found with deploys; the others were kept before there were any. */
  readonly deploys?: boolean;
}

const FILE = new URL('./seeds.json', import.meta.url);
const FOUND_LENGTH_MAX = 90;

export function keptSeeds(): number[] {
  return read().map(({ seed }) => seed);
}

/** Every second seed has deploys; those that are kept have what they had when they found something. */
export function deploysIn(seed: number): boolean {
  const kept = read().find((one) => one.seed === seed);
  return kept ? kept.deploys === true : seed % 2 === 0;
}

/** Adds those that are not there yet. */
export function keepSeeds(failures: readonly Failure[]): void {
  const kept = read();
  const known = new Set(kept.map(({ seed }) => seed));
  for (const { seed, violation } of failures) {
    if (known.has(seed)) continue;
    const found = violation.slice(0, FOUND_LENGTH_MAX);
    kept.push({ seed, found, deploys: deploysIn(seed) });
  }
  const lines = kept.sort((a, b) => a.seed - b.seed).map((one) => `  ${JSON.stringify(one)}`);
  writeWhole(FILE, `[\n${lines.join(',\n')}\n]\n`);
}

function read(): Kept[] {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}
