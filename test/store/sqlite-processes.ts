/** The other end of sqlite-child: starts it, reads what it says, kills it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach } from 'vitest';
import { childProgram } from '../support/children.ts';
import type { SqliteChildTask } from './sqlite-child.ts';

export interface Said {
  readonly event: string;
  readonly code?: string;
  readonly verdict?: string;
  readonly message?: string;
  readonly hint?: string;
  readonly task?: string;
  readonly count?: number;
  readonly tasks?: readonly unknown[];
  readonly [more: string]: unknown;
}

const WAIT_MS_MAX = 90_000;
const started: ChildProcess[] = [];

/** Call once in a test file: no child outlives its test. */
export function killChildrenAfterEach(): void {
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });
}

export class StoreChild {
  readonly said: Said[] = [];
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;
  #errors = '';

  /** `before` is what the child is started through, such as nsenter. */
  constructor(task: SqliteChildTask, before: readonly string[] = []) {
    const program = childProgram('test/store/sqlite-child.ts');
    const [command, ...args] = [...before, process.execPath, program, JSON.stringify(task)];
    this.#process = spawn(command!, args);
    started.push(this.#process);
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      this.said.push(JSON.parse(line) as Said);
    });
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    this.ended = new Promise((resolve) => {
      this.#process.once('close', (code) => resolve(code));
    });
  }

  async hears(event: string): Promise<Said> {
    const deadline = Date.now() + WAIT_MS_MAX;
    while (true) {
      const found = this.said.find((said) => said.event === event);
      if (found) return found;
      const hasEnded = this.#process.exitCode !== null || this.#process.signalCode !== null;
      if (Date.now() > deadline || (hasEnded && (await this.ended) !== undefined)) {
        const late = this.said.find((said) => said.event === event);
        if (late) return late;
        throw new Error(`no '${event}': ${JSON.stringify(this.said.slice(-5))} ${this.#errors}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  all(event: string): Said[] {
    return this.said.filter((said) => said.event === event);
  }

  go(): void {
    this.#process.stdin!.write('go\n');
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.ended;
  }
}
