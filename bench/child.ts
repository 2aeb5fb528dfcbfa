/** Runs one measurement in a process of its own, from the built files, and reads its answer. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export type ChildAnswer = Readonly<Record<string, unknown>>;

export interface ChildOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly execArgv?: readonly string[];
  /** Ends the child by SIGKILL once it has answered, instead of letting it go. */
  readonly isKilled?: boolean;
}

const CHILD_MS_MAX = 180_000;

/**
 * What an environment has Node.js do at every start is not FleetQ's time: where extra certificates are
 * named, it reads them and all of its own first, which takes some 85 ms.
 */
const BARE = { NODE_OPTIONS: '', NODE_EXTRA_CA_CERTS: undefined };

export function runChild(task: string, args: object, options: ChildOptions): Promise<ChildAnswer> {
  const program = fileURLToPath(new URL('engine-child.mjs', import.meta.url));
  const child = fork(program, [task, JSON.stringify(args)], {
    env: { ...process.env, ...BARE, ...options.env },
    execArgv: [...(options.execArgv ?? [])],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), CHILD_MS_MAX);
    let answer: ChildAnswer | undefined;
    child.on('message', (message) => {
      answer = message as ChildAnswer;
      child.kill(options.isKilled ? 'SIGKILL' : 'SIGTERM');
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (answer) resolve(answer);
      else reject(new Error(`bench child ${task} ended by ${signal ?? code} without an answer`));
    });
  });
}

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
