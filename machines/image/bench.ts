/**
 * A run's bench: the one directory that holds all of its temporary files. Its name says whose it is,
 * '<run>.<owner>', so that the next attempt finds what dead ones left: it takes over its own run's
 * bench, with whatever was downloaded already, and removes those of runs that are dead.
 *
 * A bench wrongly taken for dead costs its run a new start and nothing else: it is renamed away before
 * it is emptied, so its run finds it gone, never half of it.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { listen } from 'fleetq';
import { unless } from './files.ts';

const NAME = /^([0-9A-Z]{26})\.([0-9a-f]{8})-(\d+)-(\d+)$/;
const TRASH = '.trash';
/** Longer than any attempt may last: phases time out before. */
const UNTOUCHED_MS_MAX = 86_400_000;

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const OWNER = `${HOST}-${process.pid}-${bornAt(process.pid) ?? 0}`;

/** Runs of this process that have a bench and have not ended. */
const held = new Set<string>();
let stopListening: (() => void) | undefined;

function hold(run: string): void {
  held.add(run);
  stopListening ??= listen('run.finished', (ended) => release(ended.run));
}

function release(run: string): void {
  held.delete(run);
  if (held.size > 0) return;
  stopListening?.();
  stopListening = undefined;
}

/** The run's bench, as its last attempt left it, after the benches of dead runs are gone. */
export async function openBench(benches: string, runId: string): Promise<string> {
  hold(runId);
  await mkdir(benches, { recursive: true });
  await sweepBenches(benches, runId);
  const mine = join(benches, `${runId}.${OWNER}`);
  const former = (await readdir(benches)).find((name) => NAME.exec(name)?.[1] === runId);
  if (former === undefined) await mkdir(mine, { mode: 0o700 });
  else if (join(benches, former) !== mine) await rename(join(benches, former), mine);
  // A sign of life, for hosts that share the directory and cannot see this process.
  const now = new Date();
  await utimes(mine, now, now);
  return mine;
}

/** Nothing temporary of this run, or of a dead one, remains. */
export async function closeBench(benches: string, runId: string): Promise<void> {
  await sweepBenches(benches, runId);
  for (const name of await namesIn(benches)) {
    if (NAME.exec(name)?.[1] === runId) await discard(join(benches, name));
  }
  release(runId);
}

/** Removes what nobody alive will ask for. Other live runs of the same image keep theirs. */
async function sweepBenches(benches: string, runId: string): Promise<void> {
  for (const name of await namesIn(benches)) {
    const path = join(benches, name);
    if (name.endsWith(TRASH)) await rm(path, { recursive: true, force: true });
    else if (NAME.exec(name)?.[1] !== runId && (await isDead(path, name))) await discard(path);
  }
}

/** Removes a directory in one step as far as anybody else can see. */
export async function discard(path: string): Promise<void> {
  await unless(['ENOENT'], rename(path, `${path}${TRASH}`));
  await rm(`${path}${TRASH}`, { recursive: true, force: true });
}

async function isDead(path: string, name: string): Promise<boolean> {
  const [, run, host, pid, born] = NAME.exec(name) ?? [];
  // Not a bench: whoever put it there knows why.
  if (run === undefined) return false;
  if (name.endsWith(`.${OWNER}`)) return !held.has(run);
  if (host === HOST && !isAlive(Number(pid), Number(born))) return true;
  const found = await unless(['ENOENT'], stat(path));
  return found !== undefined && Date.now() - found.mtimeMs > UNTOUCHED_MS_MAX;
}

/** Whether the process that was born then still lives; its number alone may be another's by now. */
function isAlive(pid: number, born: number): boolean {
  const bornNow = bornAt(pid);
  if (bornNow !== undefined) return bornNow === born;
  try {
    process.kill(pid, 0);
    // Where there is no /proc the number has to do; where there is, this one is a zombie.
    return born === 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' && born === 0;
  }
}

/** When a process was born, in the kernel's ticks; undefined for the dead, zombies, and without /proc. */
function bornAt(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in brackets, may hold anything, so the fields are counted from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : Number(fields[19]);
  } catch {
    return undefined;
  }
}

async function namesIn(directory: string): Promise<string[]> {
  return (await unless(['ENOENT'], readdir(directory))) ?? [];
}
