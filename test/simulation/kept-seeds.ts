/** Seeds that have found something once: they are simulated first, for ever. */
import { readFileSync } from 'node:fs';
import { writeWhole } from '../support/save-leg.ts';
import type { Failure } from './tally.ts';

interface Kept {
  readonly seed: number;
  /** What it had found. */
  readonly found: string;
}

const FILE = new URL('./seeds.json', import.meta.url);
const FOUND_LENGTH_MAX = 90;

export function keptSeeds(): number[] {
  return read().map(({ seed }) => seed);
}

/** Adds those that are not there yet. */
export function keepSeeds(failures: readonly Failure[]): void {
  const kept = read();
  const known = new Set(kept.map(({ seed }) => seed));
  for (const { seed, violation } of failures) {
    if (!known.has(seed)) kept.push({ seed, found: violation.slice(0, FOUND_LENGTH_MAX) });
  }
  const lines = kept
    .sort((a, b) => a.seed - b.seed)
    .map(({ seed, found }) => `  { "seed": ${seed}, "found": ${JSON.stringify(found)} }`);
  writeWhole(FILE, `[\n${lines.join(',\n')}\n]\n`);
}

function read(): Kept[] {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}
