/**
 * The last figures of each bench that docs/benchmarks.md is written from: with when they were taken, on which
 * commit and machine, and by which command. `--save` puts them there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { currentCommit, writeWhole } from '../test/support/save-leg.ts';

const FILE = new URL('../docs/results/benchmarks.json', import.meta.url);

export interface Saved {
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  readonly command: string;
  readonly figures: Readonly<Record<string, unknown>>;
}

export function savedBenches(): Record<string, Saved> {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
}

export function saveBench(name: string, command: string, figures: object): void {
  const saved: Saved = {
    date: new Date().toISOString().slice(0, 10),
    commit: currentCommit(),
    machine: `${availableParallelism()} cores, Node.js ${process.versions.node}`,
    command,
    figures: { ...figures },
  };
  const all = { ...savedBenches(), [name]: saved };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeWhole(FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}
