/**
 * What a proof tool found, kept beside the docs: every tool has one file of legs, and a leg says when, on
 * which commit and machine, by which command it was run and what it counted.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, platform } from 'node:os';

export type Figures = Readonly<Record<string, unknown>>;

export interface Leg {
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  readonly command: string;
  readonly figures: Figures;
  /** What came of it, added by hand where something was broken. */
  readonly note?: string;
}

const HERE = new URL('.', import.meta.url);
const RESULTS = new URL('../../docs/results/', import.meta.url);

/** The legs of a tool that were saved so far, the oldest first. */
export function savedLegs(tool: string): Leg[] {
  try {
    return JSON.parse(readFileSync(new URL(`${tool}.json`, RESULTS), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export function saveLeg(tool: string, command: string, figures: Figures): void {
  const leg: Leg = {
    date: new Date().toISOString().slice(0, 10),
    commit: currentCommit(),
    machine: `${availableParallelism()} cores, ${platform()} ${arch()}, Node.js ${process.versions.node}`,
    command,
    figures,
  };
  mkdirSync(RESULTS, { recursive: true });
  const legs = [...savedLegs(tool), leg];
  writeWhole(new URL(`${tool}.json`, RESULTS), `${JSON.stringify(legs, null, 2)}\n`);
}

/** The legs before it are the work of hours: whoever dies half way leaves them as they were. */
export function writeWhole(file: URL, text: string): void {
  const beside = new URL(`${file.href}.${process.pid}.tmp`);
  try {
    writeFileSync(beside, text, { flush: true });
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** The commit of the tree, with a mark where the product or its tests differ from it. */
export function currentCommit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: HERE, encoding: 'utf8', stdio: 'pipe' }).trim();
  const changed = git(
    'status',
    '--porcelain',
    '--',
    ':/src',
    ':/test',
    ':/machines',
    ':/migrations',
  );
  return `${git('rev-parse', '--short=12', 'HEAD')}${changed === '' ? '' : ' and changes'}`;
}
