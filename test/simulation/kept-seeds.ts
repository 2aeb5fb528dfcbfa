/** Seeds that have found something once: they are simulated first, for ever. */
import { readFileSync } from 'node:fs';

interface Kept {
  readonly seed: number;
  /** What it had found. */
  readonly found: string;
}

export function keptSeeds(): number[] {
  const text = readFileSync(new URL('./seeds.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as Kept[]).map(({ seed }) => seed);
}
