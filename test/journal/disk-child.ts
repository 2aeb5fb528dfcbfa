/** The other end of full-disk-child: starts it, reads what it says, keeps the ledger's account. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, expect } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { openJournalFile, verifyJournal } from '../../src/journal/index.ts';
import { childProgram } from '../support/children.ts';
import { readLedger } from '../support/ledger.ts';
import type { FullDiskTask } from './full-disk-child.ts';

export interface Said {
  readonly event: string;
  readonly code?: string;
  readonly message?: string;
}

const WAIT_MS_MAX = 20_000;
const started: ChildProcess[] = [];

/** Call once in a test file: no child outlives its test. */
export function killChildrenAfterEach(): void {
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });
}

export class DiskChild {
  readonly process: ChildProcess;
  readonly said: Said[] = [];
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #onSaid: (() => void) | undefined;
  #errors = '';

  /** `before` is what the child is started through, such as nsenter. */
  constructor(task: FullDiskTask, env: NodeJS.ProcessEnv = {}, before: readonly string[] = []) {
    const program = childProgram('test/journal/full-disk-child.ts');
    const [command, ...args] = [...before, process.execPath, program, JSON.stringify(task)];
    this.process = spawn(command!, args, { env: { ...process.env, ...env } });
    started.push(this.process);
    createInterface({ input: this.process.stdout! }).on('line', (line) => {
      this.said.push(JSON.parse(line) as Said);
      this.#onSaid?.();
    });
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    this.ended = new Promise((resolve) => {
      this.process.once('close', (code, signal) => {
        resolve({ code, signal });
        this.#onSaid?.();
      });
    });
  }

  /** The first `event` after the first `after` things it said; where that is in the list. */
  async hears(event: string, after = 0): Promise<number> {
    const deadline = Date.now() + WAIT_MS_MAX;
    while (true) {
      const index = this.said.findIndex((said, at) => at >= after && said.event === event);
      if (index >= 0) return index;
      const hasEnded = this.process.exitCode !== null || this.process.signalCode !== null;
      if (hasEnded || Date.now() > deadline) {
        throw new Error(`no '${event}': ${JSON.stringify(this.said.slice(-8))} ${this.#errors}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 250);
        this.#onSaid = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  stop(): void {
    this.process.stdin!.write('stop\n');
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    expect((await this.ended).signal).toBe('SIGKILL');
  }
}

interface Line {
  readonly kind: 'started' | 'persisted';
  readonly run: RunId;
}

export function startedIn(ledger: string): RunId[] {
  return readLedger<Line>(ledger).flatMap((line) => (line.kind === 'started' ? [line.run] : []));
}

export interface Account {
  readonly started: number;
  /** Acknowledged starts that did not end in success. */
  readonly lost: readonly string[];
  /** Effects beyond one a run. */
  readonly doubled: number;
  readonly problems: readonly unknown[];
}

/** The ledger against the journal: nothing that was acknowledged may be missing. */
export function accountOf(ledger: string, dataDir: string): Account {
  const started = startedIn(ledger);
  const persisted = readLedger<Line>(ledger).filter((line) => line.kind === 'persisted');
  const effects = new Set(persisted.map((line) => line.run));
  const file = openJournalFile(dataDir);
  const lost = started.filter(
    (run) => file.reader.find(run)?.ending?.outcome !== 'completed' || !effects.has(run),
  );
  file.close();
  const { problems } = verifyJournal(dataDir);
  return { started: started.length, lost, doubled: persisted.length - effects.size, problems };
}
