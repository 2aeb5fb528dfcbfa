/** What processes have used of the CPU, as Linux counts it: in hundredths of a second. */
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Of a process, and of its children that have ended. */
export function cpuMsOf(pid: number): number {
  const { spent } = statOf(pid);
  return spent * TICK_MS;
}

/** Of a Postgres server, by the process of one connection to it. */
export function cpuMsOfServer(backend: number): number {
  const { parent } = statOf(backend);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .reduce((sum, pid) => sum + (isOf(pid, parent) ? cpuMsOf(pid) : 0), 0);
}

function isOf(pid: number, parent: number): boolean {
  try {
    return pid === parent || statOf(pid).parent === parent;
  } catch {
    // It ended while we looked.
    return false;
  }
}

function statOf(pid: number): { readonly parent: number; readonly spent: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user, system, userOfChildren, systemOfChildren] = fields.slice(11, 15) as number[];
  return { parent: fields[1]!, spent: user! + system! + userOfChildren! + systemOfChildren! };
}
