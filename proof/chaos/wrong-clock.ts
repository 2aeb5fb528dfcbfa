/**
 * Wall clocks that are wrong, for one process each: libfaketime between the process and the C library,
 * told by a file that can be changed while the process runs. The monotonic clock stays as it is, as it
 * does where somebody sets a clock. The library comes from the Debian package; where it is missing,
 * root installs it if it can.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** As the library writes them: set by so much, or running at another pace from now on. */
export const WRONG_TIMES = [
  '+0.5',
  '-0.5',
  '+5',
  '-5',
  '+3600',
  '-3600',
  '+3650d',
  '-3650d',
  '+0 x0.5',
  '+0 x2',
] as const;

/** So far that no time of a run before and after can be taken for the other. */
export const STORE_AHEAD_MS = 6 * 3_600_000;
const STORE_AHEAD = `+${STORE_AHEAD_MS / 1_000}`;

const RIGHT = '+0';
const LIBRARY = 'libfaketimeMT.so.1';
const PLACES = '/usr/lib';

let library: string | undefined;

/** Why no clock can be wrong here; undefined where it can. With CI=true that is an error. */
export function whyNoWrongClock(): string | undefined {
  library ??= findLibrary();
  if (library === undefined) install();
  library ??= findLibrary();
  if (library !== undefined) return undefined;
  const why = 'libfaketime is missing: apt-get install libfaketime';
  if (process.env['CI'] === 'true') throw new Error(why);
  return why;
}

function findLibrary(): string | undefined {
  const places = existsSync(PLACES) ? readdirSync(PLACES) : [];
  return [PLACES, ...places.map((place) => join(PLACES, place))]
    .map((place) => join(place, 'faketime', LIBRARY))
    .find((file) => existsSync(file));
}

function install(): void {
  if (process.getuid?.() !== 0) return;
  const command =
    'apt-get install -y libfaketime || (apt-get update && apt-get install -y libfaketime)';
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    execFileSync('sh', ['-c', command], { env, stdio: 'ignore' });
  } catch {
    // Whoever asked sees that it is still missing.
  }
}

export class WrongClock {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    this.set(RIGHT);
  }

  /** Of the processes that are to go by it. */
  get env(): NodeJS.ProcessEnv {
    return {
      LD_PRELOAD: library,
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: '1',
      // A process that is killed would leave its shared memory to the next one of its number.
      FAKETIME_DISABLE_SHM: '1',
    };
  }

  set(time: string): void {
    writeFileSync(this.#file, `${time}\n`);
  }

  /** For good: what was made by a clock that is set back has to wait until it comes there again. */
  setAhead(): void {
    this.set(STORE_AHEAD);
  }

  right(): void {
    this.set(RIGHT);
  }
}
