/** One process of a crash test, from its start to its end, however it ends. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../ground/index.ts';
import type { ChildOrders } from './crash-child.ts';

export interface Death {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It was not done in time, and was killed for that. */
  readonly isLate: boolean;
  /** The last of what it printed. */
  readonly said: string;
}

const SAID_LENGTH_MAX = 4_000;

export interface ProcessPorts {
  /** Where the orders are put down: an input may be too long for a command line. */
  readonly ordersFile: string;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
}

export function runProcess(orders: ChildOrders, ports: ProcessPorts): Promise<Death> {
  const isSource = import.meta.url.endsWith('.ts');
  const program = new URL(isSource ? './crash-child.ts' : './crash-child.js', import.meta.url);
  writeFileSync(ports.ordersFile, JSON.stringify(orders));
  return new Promise((resolve, reject) => {
    const args = [fileURLToPath(program), ports.ordersFile];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...ports.env },
    });
    let said = '';
    const hear = (text: string) => {
      said = (said + text).slice(-SAID_LENGTH_MAX);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    let isLate = false;
    const forget = systemClock.after(ports.timeoutMs, () => {
      isLate = true;
      child.kill('SIGKILL');
    });
    child.once('error', (error) => {
      forget();
      reject(error);
    });
    // Not 'close': whoever the machine started may hold the pipes open for long.
    child.once('exit', (code, signal) => {
      forget();
      systemClock.soon(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        resolve({ code, signal, isLate, said: said.trim() });
      });
    });
  });
}

/** What Node says where the program waits and nothing is left that it could wait for. */
const CODE_UNSETTLED = 13;

/** How a process ended that was not to, with the last of what it printed. */
export function toldEnd({ code, signal, isLate, said }: Death): string {
  const tail = said === '' ? '' : `; it said:\n${said}`;
  if (isLate) return `the process was not done in time${tail}`;
  if (code === CODE_UNSETTLED)
    return `the process ended, since a phase waits for something that cannot come${tail}`;
  return `the process ended by itself (${signal ?? code})${tail}`;
}
