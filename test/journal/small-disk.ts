/**
 * A small file system that really fills up: a tmpfs in a mount namespace of its own, kept alive by a
 * process that sleeps in it. Needs root; in CI that is demanded, elsewhere its lack skips the tests.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../support/remove-tree.ts';

export interface SmallDisk {
  /** Where it is mounted, for those inside. */
  readonly directory: string;
  /** The same for those outside. */
  readonly seenFromOutside: string;
  /** What a command is started through to be inside. */
  readonly inside: readonly string[];
  run(command: string, ...args: string[]): string;
  /** A copy of one of its directories that can be seen from outside. */
  copyOut(directory: string): string;
  remove(): void;
}

const LIFE_SECONDS = 300;

/** Why there can be none here; undefined where there can. */
export function whyNoSmallDisk(): string | undefined {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'pipe' });
    execFileSync('nsenter', ['--version'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    const why = `a full disk needs root, unshare and nsenter: ${(error as Error).message}`;
    if (process.env['CI'] === 'true') throw new Error(why);
    return why;
  }
}

export async function makeSmallDisk(
  sizeMiB: number,
  lifeSeconds = LIFE_SECONDS,
): Promise<SmallDisk> {
  const outside = mkdtempSync(join(tmpdir(), 'fleetq-disk-'));
  const directory = join(outside, 'disk');
  mkdirSync(directory);
  const script = `mount -t tmpfs -o size=${sizeMiB}m tmpfs "$0" && echo ready && exec sleep ${lifeSeconds}`;
  const holder = spawn('unshare', ['-m', 'sh', '-c', script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once('data', () => resolve());
    holder.once('exit', () => reject(new Error('the small disk could not be made')));
  });
  const inside = ['nsenter', '-t', String(holder.pid), '-m', '--'];
  const run = (...args: string[]) =>
    execFileSync(inside[0]!, [...inside.slice(1), ...args], { encoding: 'utf8' });
  return {
    directory,
    seenFromOutside: join(`/proc/${holder.pid}/root`, directory),
    inside,
    run,
    copyOut(from) {
      const to = join(mkdtempSync(join(outside, 'copy-')), 'data');
      run('cp', '-a', from, to);
      return to;
    },
    remove() {
      holder.kill('SIGKILL');
      removeTree(outside);
    },
  };
}
