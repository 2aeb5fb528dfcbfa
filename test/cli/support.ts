/** Real processes for tests: the built `fleetq`, and the worker that answers it. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach } from 'vitest';
import { removeTree } from '../support/remove-tree.ts';
import { Transcript } from './transcript.ts';

export { fileAppears } from './file-appears.ts';

const root = new URL('../../', import.meta.url);
export const BIN = fileURLToPath(new URL('dist/bin.js', root));
const WORKER = fileURLToPath(new URL('dist/cli/worker/pod-process.js', root));
export const MACHINES = fileURLToPath(new URL('test/cli/machines', root));

const TIMEOUT_MS = 30_000;
const running = new Set<ChildProcess>();
const directories: string[] = [];

afterEach(async () => {
  for (const child of [...running]) {
    const gone = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await gone;
  }
});
afterAll(() => {
  // Pods whose starter was killed end by themselves, and write until then.
  for (const directory of directories.splice(0)) removeTree(directory);
});

export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fq-'));
  directories.push(directory);
  return directory;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Environment without what the shell that runs the tests may have set. */
function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const clean = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('FLEETQ_') && !name.includes('COLOR') && name !== 'NODE_OPTIONS',
  );
  return { ...Object.fromEntries(clean), ...env };
}

export interface Call {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with the first match in what stdout, or else stderr, has said so far. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
}

export function begin(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env?: Readonly<Record<string, string>>;
    input?: string | Buffer;
    /** For what takes its time on a busy host: it is killed after so long. */
    readonly timeoutMs?: number;
  },
): Call {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: options.cwd,
    env: environment(options.env ?? {}),
    timeout: options.timeoutMs ?? TIMEOUT_MS,
  });
  return watch(child, options.input);
}

/** Whatever becomes of the test, the child does not outlive it. */
export function endAfterTest(child: ChildProcess): void {
  running.add(child);
  child.once('close', () => running.delete(child));
}

function watch(child: ChildProcess, input?: string | Buffer): Call {
  running.add(child);
  const heard = new Transcript();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => heard.add('stdout', text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => heard.add('stderr', text));
  child.stdin?.end(input ?? '');
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return { code, signal, stdout: heard.stdout, stderr: heard.stderr } as Ended;
  });
  return { child, ended, said: (pattern) => heard.said(pattern, ended) };
}

/** `fleetq …` in a directory, to its end. */
export function fleetq(
  cwd: string,
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly input?: string | Buffer;
    readonly timeoutMs?: number;
  } = {},
): Promise<Ended> {
  return begin(args, {
    cwd,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    env: { FLEETQ_MACHINES: MACHINES, ...options.env },
    ...inputOf(options),
  }).ended;
}

function inputOf(options: { readonly input?: string | Buffer }): { input?: string | Buffer } {
  return options.input === undefined ? {} : { input: options.input };
}

export interface Worker {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly messages: readonly { readonly kind: string; readonly [name: string]: unknown }[];
  signal(signal: NodeJS.Signals): void;
}

/** A process that holds `<cwd>/.fleetq`, executes runs and answers on the socket. */
export async function startWorker(
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Worker> {
  const child = fork(WORKER, {
    cwd,
    env: environment({ FLEETQ_MACHINES: MACHINES, ...env }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { ended } = watch(child);
  const messages: { kind: string }[] = [];
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message: { kind: string }) => {
      messages.push(message);
      if (message.kind === 'ready') resolve();
      if (message.kind === 'refused') reject(new Error(JSON.stringify(message)));
    });
    ended.then(({ stderr }) => reject(new Error(`the worker ended: ${stderr}`)));
  });
  return { pid: child.pid!, ended, messages, signal: (signal) => void child.kill(signal) };
}

/** Holds up a process until the one that started it is gone. */
const UNTIL_ABANDONED =
  'data:text/javascript,await new Promise((go) => process.once("disconnect", go))';

/** A pod whose starter is gone before its own code is loaded. Returns how it ended. */
export async function startAbandoned(cwd: string): Promise<number | NodeJS.Signals> {
  const env = environment({ FLEETQ_MACHINES: MACHINES });
  const child = fork(WORKER, {
    ...{ cwd, env, execArgv: ['--import', UNTIL_ABANDONED] },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  running.add(child);
  child.disconnect();
  const [code, signal] = await ended;
  running.delete(child);
  return signal ?? code;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
