/** Builds the shim that stands between a child process and its disk, and says how to start one with it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ShimOptions {
  /** Added to every fsync and fdatasync. */
  readonly fsyncDelayUs?: number;
  /** Where to log writes and syncs, and of which files: those whose path contains `path`. */
  readonly log?: { readonly file: string; readonly path?: string };
  /** Where to keep the bytes of what is logged; names are logged too then. */
  readonly data?: string;
  /** Ends the process by SIGKILL in place of its nth call of that kind on such a path. */
  readonly kill?: { readonly op: 'write' | 'sync'; readonly nth: number; readonly path: string };
  /** What fails while the file `control` exists. */
  readonly fail?: {
    readonly op: 'write' | 'fsync';
    readonly errno: 'EIO' | 'ENOSPC';
    readonly path: string;
    readonly control: string;
  };
}

export interface ShimLine {
  readonly op: 'write' | 'sync' | 'truncate' | 'create' | 'rename' | 'unlink';
  /** What the call answered: below 0 where it failed. */
  readonly result: number;
  readonly bytes: number;
  /** -1 where the call has none. */
  readonly offset: number;
  /** Of a rename 'from|to'. */
  readonly path: string;
}

const SOURCE = fileURLToPath(new URL('./disk-shim.c', import.meta.url));
let built: string | undefined;

/** The environment of a child whose disk behaves like this. */
export function shimEnv({ fsyncDelayUs, log, data, kill, fail }: ShimOptions): NodeJS.ProcessEnv {
  built ??= build();
  return {
    LD_PRELOAD: built,
    // Through a ring the kernel would write without asking the C library.
    UV_USE_IO_URING: '0',
    ...(fsyncDelayUs === undefined ? {} : { FLEETQ_SHIM_FSYNC_DELAY_US: String(fsyncDelayUs) }),
    ...(log ? { FLEETQ_SHIM_LOG: log.file } : {}),
    ...(log?.path ? { FLEETQ_SHIM_LOG_PATH: log.path } : {}),
    ...(data ? { FLEETQ_SHIM_DATA: data } : {}),
    ...(kill
      ? { FLEETQ_SHIM_KILL: `${kill.op} ${kill.nth}`, FLEETQ_SHIM_KILL_PATH: kill.path }
      : {}),
    ...(fail
      ? {
          FLEETQ_SHIM_FAIL_OP: fail.op,
          FLEETQ_SHIM_FAIL_ERRNO: fail.errno,
          FLEETQ_SHIM_FAIL_PATH: fail.path,
          FLEETQ_SHIM_CONTROL: fail.control,
        }
      : {}),
  };
}

/** Built once for each version of the source, in a place that only whoever works here can write. */
function build(): string {
  const name = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16);
  const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
  const library = join(cache, `fleetq-disk-shim-${process.arch}-${name}.so`);
  if (existsSync(library)) return library;
  mkdirSync(cache, { recursive: true });
  const unfinished = `${library}.${process.pid}`;
  const compiler = process.env['CC'] ?? 'cc';
  try {
    execFileSync(compiler, ['-shared', '-fPIC', '-O2', '-Wall', '-o', unfinished, SOURCE, '-ldl'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (cause) {
    throw new Error(
      `the disk shim could not be built with '${compiler}': install a C compiler, or name one in CC`,
      { cause },
    );
  }
  renameSync(unfinished, library);
  return library;
}

/** The log of a child, line by line, in the order of its calls. */
export function readShimLog(file: string): ShimLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [op, result, bytes, offset, ...path] = line.split(' ');
      return {
        op: op as ShimLine['op'],
        result: Number(result),
        bytes: Number(bytes),
        offset: Number(offset),
        path: path.join(' '),
      };
    });
}
