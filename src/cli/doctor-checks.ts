/** The single checks of `fleetq doctor`: of the runtime, and of the directory the journal is in. */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  lstatSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SOCKET_BYTES_MAX } from '../admin/index.ts';
import type { Config } from '../config/index.ts';
import {
  describeError,
  NODE_WANTED,
  nodeComplaint,
  runtimeName,
  showDuration,
  sqliteVersion,
  systemClock,
  systemRandom,
} from '../ground/index.ts';
import {
  JournalHeldError,
  openJournalFile,
  type Place,
  placeOf,
  refuseUnfit,
} from '../journal/index.ts';
import { SocketClient } from './socket-client.ts';

export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly fact: string;
  /** What to do about it. */
  readonly fix?: string | undefined;
}

const FREE_BYTES_LOW = 1024 ** 3;
const FREE_BYTES_MIN = 64 * 1024 ** 2;
const FSYNC_COUNT = 50;
const FSYNC_SLOW_MS = 20;

export async function runtimeChecks(): Promise<Check[]> {
  const isFit = nodeComplaint() === undefined;
  const node: Check = {
    name: 'node',
    verdict: isFit ? 'ok' : 'fail',
    fact: runtimeName(),
    fix: isFit ? undefined : `install ${NODE_WANTED}`,
  };
  return [node, sqliteCheck()];
}

function sqliteCheck(): Check {
  try {
    return { name: 'sqlite', verdict: 'ok', fact: sqliteVersion() };
  } catch (error) {
    const { message, hint } = error as Error & { hint?: string };
    return { name: 'sqlite', verdict: 'fail', fact: message, fix: hint };
  }
}

export async function directoryChecks(config: Config): Promise<Check[]> {
  const place = placeOf(config.dataDir);
  const directory = directoryCheck(place);
  if (directory.verdict === 'fail') return [directory];
  return [directory, await holderCheck(place), socketCheck(place), ...diskChecks(place)];
}

function directoryCheck(place: Place): Check {
  const [name, { directory }] = ['directory', place];
  try {
    refuseUnfit(place);
  } catch (error) {
    const { message, hint } = error as Error & { hint?: string };
    return { name, verdict: 'fail', fact: message, fix: hint };
  }
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (!found) return { name, verdict: 'ok', fact: `${directory} is not there yet` };
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  const isPrivate = (found.mode & 0o077) === 0;
  const fact = `${directory}, mode ${mode}`;
  return isPrivate
    ? { name, verdict: 'ok', fact }
    : { name, verdict: 'warn', fact: `${fact}: open to others`, fix: `chmod 700 ${directory}` };
}

async function holderCheck(place: Place): Promise<Check> {
  const name = 'journal';
  if (!existsSync(place.journal)) return { name, verdict: 'ok', fact: 'none yet' };
  const client = new SocketClient(place.socket);
  const status = await client.status().catch(() => undefined);
  client.close();
  if (status) {
    const { pid, version, journal, stalledBy, alarms } = status;
    const fact = `${journal}, held by process ${pid} (fleetq ${version}), which answers`;
    if (typeof stalledBy === 'string') {
      const fix = 'free space in the data directory; it goes on by itself';
      return { name, verdict: 'fail', fact: `${fact}, and is stalled: ${stalledBy}`, fix };
    }
    const first = (alarms as string[] | undefined)?.[0];
    return first === undefined
      ? { name, verdict: 'ok', fact }
      : { name, verdict: 'warn', fact: `${fact}; alarm: ${first}` };
  }
  try {
    openJournalFile(place.directory).close();
    return { name, verdict: 'ok', fact: 'nobody holds it' };
  } catch (error) {
    const { message, hint } = error as Error & { hint?: string };
    if (!(error instanceof JournalHeldError)) {
      return { name, verdict: 'fail', fact: message, fix: hint };
    }
    const states = 'it starts, waits for another process with this journal, or hangs';
    const fact = `${message}, which does not answer on its socket: ${states}`;
    const fix = `its log and its /readyz say which: let it start or wait; if it hangs, ${hint}`;
    return { name, verdict: 'warn', fact, fix };
  }
}

function socketCheck({ socket }: Place): Check {
  const bytes = Buffer.byteLength(socket);
  const fact = `its path has ${bytes} of ${SOCKET_BYTES_MAX} bytes`;
  return bytes <= SOCKET_BYTES_MAX
    ? { name: 'socket', verdict: 'ok', fact }
    : { name: 'socket', verdict: 'fail', fact, fix: 'choose a data directory with a shorter path' };
}

/** Measured where the journal is, or will be: in the nearest directory that is there. */
function diskChecks({ directory }: Place): Check[] {
  let near = directory;
  while (!existsSync(near) && dirname(near) !== near) near = dirname(near);
  return [spaceCheck(near), fileSystemCheck(near), syncCheck(near)];
}

function spaceCheck(directory: string): Check {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  const fact = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  const fix = 'free some: a full disk makes every run stand still';
  if (free < FREE_BYTES_MIN) return { name: 'space', verdict: 'fail', fact, fix };
  if (free < FREE_BYTES_LOW) return { name: 'space', verdict: 'warn', fact, fix };
  return { name: 'space', verdict: 'ok', fact };
}

/** By the kernel's number; those whose locks or fsync cannot be relied on, or that forget. */
const FILE_SYSTEMS: Readonly<Record<number, readonly [name: string, warning?: string]>> = {
  61267: ['ext4'],
  1481003842: ['xfs'],
  2435016766: ['btrfs'],
  801189825: ['zfs'],
  16914836: ['tmpfs', 'it forgets everything when the host restarts'],
  2035054128: ['overlayfs', 'in a container it goes away with the container: mount a volume'],
  26985: ['nfs', 'locks and fsync over a network cannot be relied on'],
  4283649346: ['cifs', 'locks and fsync over a network cannot be relied on'],
  4266872130: ['smb2', 'locks and fsync over a network cannot be relied on'],
  16914839: ['9p', 'locks and fsync of a shared directory cannot be relied on'],
  1702057286: ['fuse', 'whether fsync reaches a disk depends on what is behind it'],
};

function fileSystemCheck(directory: string): Check {
  const [name, warning] = FILE_SYSTEMS[statfsSync(directory).type] ?? ['unknown'];
  if (warning === undefined) return { name: 'filesystem', verdict: 'ok', fact: name };
  const fix = 'put the data directory on a local disk that stays';
  return { name: 'filesystem', verdict: 'warn', fact: `${name}: ${warning}`, fix };
}

function syncCheck(directory: string): Check {
  const file = join(directory, `.fleetq-doctor-${systemRandom.hex(8)}`);
  try {
    const elapsed = measureSyncs(file).sort((a, b) => a - b);
    const at = (share: number) => elapsed[Math.floor((elapsed.length - 1) * share)] ?? 0;
    const [p50, p99] = [at(0.5), at(0.99)];
    const fact = `p50 ${micros(p50)}, p99 ${micros(p99)} of ${FSYNC_COUNT}`;
    return p99 <= FSYNC_SLOW_MS
      ? { name: 'fsync', verdict: 'ok', fact }
      : {
          name: 'fsync',
          verdict: 'warn',
          fact,
          fix: 'every phase waits for one: use a faster disk',
        };
  } catch (error) {
    return {
      name: 'fsync',
      verdict: 'fail',
      fact: `cannot write in ${directory}: ${describeError(error).message}`,
      fix: 'choose a place that can be written, with --data-dir or FLEETQ_DATA_DIR',
    };
  } finally {
    rmSync(file, { force: true });
  }
}

function measureSyncs(file: string): number[] {
  const fd = openSync(file, 'wx', 0o600);
  const page = Buffer.alloc(4_096, 1);
  try {
    return Array.from({ length: FSYNC_COUNT }, (_, index) => {
      writeSync(fd, page, 0, page.length, index * page.length);
      const begunMs = systemClock.monotonicMs();
      fdatasyncSync(fd);
      return systemClock.monotonicMs() - begunMs;
    });
  } finally {
    closeSync(fd);
  }
}

export function micros(ms: number): string {
  return ms < 1 ? `${Math.round(ms * 1_000)} µs` : showDuration(ms);
}
