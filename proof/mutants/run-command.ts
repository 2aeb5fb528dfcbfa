/**
 * Runs one command to its end, or to the end of its time. Whatever it has started goes with it, also
 * what left its process group: everything of ours carries a mark in its environment.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { PrivateCopy } from './private-copy.ts';

export interface CommandEnd {
  readonly code: number | null;
  readonly isLate: boolean;
  readonly seconds: number;
  /** What it printed, without colours. */
  readonly output: string;
}

const MARK = 'FLEETQ_MUTANTS_MARK';
/** More than any report needs; a mutant may print for ever. */
const OUTPUT_LENGTH_MAX = 4_000_000;
const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]*[A-Za-z]`, 'g');

export function runCommand(
  copy: PrivateCopy,
  args: readonly string[],
  msMax: number,
  until?: AbortSignal,
): Promise<CommandEnd> {
  const begunMs = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: copy.root,
    env: environmentOf(copy),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which can be ended as a whole.
    detached: true,
  });
  return new Promise((resolve, reject) => {
    let output = '';
    let isLate = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (output.length < OUTPUT_LENGTH_MAX) output += text;
      });
    }
    const timer = setTimeout(() => {
      isLate = true;
      endAll(child, copy);
    }, msMax);
    const onAbort = () => endAll(child, copy);
    until?.addEventListener('abort', onAbort);
    const done = () => {
      clearTimeout(timer);
      until?.removeEventListener('abort', onAbort);
      endAll(child, copy);
    };
    // Not `close`: a process that it has left behind may hold its pipes open for ever.
    child.once('exit', (code) => {
      const seconds = (performance.now() - begunMs) / 1_000;
      setTimeout(() => {
        done();
        resolve({ code, isLate, seconds, output: output.replaceAll(COLOURS, '') });
      }, DRAIN_MS);
    });
    child.once('error', (error) => {
      done();
      reject(error);
    });
  });
}

/** What was printed last is read after the exit is known. */
const DRAIN_MS = 50;

function environmentOf(copy: PrivateCopy): NodeJS.ProcessEnv {
  const { VITEST: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const kept = Object.entries(inherited).filter(([name]) => !/^VITEST_|^TINYPOOL/.test(name));
  return {
    ...Object.fromEntries(kept),
    TMPDIR: copy.temporary,
    FLEETQ_TEST_BUILT: 'yes',
    [MARK]: copy.root,
  };
}

function endAll(child: ChildProcess, copy: PrivateCopy): void {
  if (child.pid !== undefined) end(-child.pid);
  for (const pid of markedBy(copy)) end(pid);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Where the system does not tell, only the group is ended. */
function markedBy(copy: PrivateCopy): number[] {
  const mark = `${MARK}=${copy.root}`;
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.filter((name) => environmentHas(name, mark)).map(Number);
}

function environmentHas(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark);
  } catch {
    return false;
  }
}
