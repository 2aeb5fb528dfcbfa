/**
 * What a handler may do to its own process: hold the loop past the silence, use up the heap, abort, or
 * exit as if all were well. It says so first, in a file that outlives it and that all pods share: there
 * it also sees how often it has done so before.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { readLedger } from '../../test/support/ledger.ts';
import { monotonicMs } from './orders.ts';

export type Poison = 'spin' | 'heap' | 'abort' | 'exit';

export interface PoisonInput {
  readonly subject: string;
  readonly how: Poison;
  /** How often before it lets the task go on. */
  readonly times: number;
}

export interface Foretold {
  readonly subject: string;
  readonly how: Poison;
  readonly pod: string;
  readonly pid: number;
  /** The loop was held, and is free again. */
  readonly isOver: boolean;
}

/** One and a half times the silence of three seconds. */
const SPIN_MS = 4_500;
const HOARD_MAX = 100_000;
const HOARD_LENGTH = 100_000;

export class Venom {
  readonly #file: string;
  readonly #pod: string;

  constructor(file: string, pod: string) {
    this.#file = file;
    this.#pod = pod;
  }

  act({ subject, how, times }: PoisonInput): void {
    const before = readLedger<Foretold>(this.#file).filter(
      (line) => line.subject === subject && !line.isOver,
    );
    if (before.length >= times) return;
    const line: Foretold = { subject, how, pod: this.#pod, pid: process.pid, isOver: false };
    this.#say(line);
    switch (how) {
      case 'spin':
        spin();
        return this.#say({ ...line, isOver: true });
      case 'heap':
        return hoard();
      case 'abort':
        return process.abort();
      case 'exit':
        return process.exit(0);
    }
  }

  #say(line: Foretold): void {
    const fd = openSync(this.#file, 'a', 0o600);
    writeSync(fd, `${JSON.stringify(line)}\n`);
    fsyncSync(fd);
    closeSync(fd);
  }
}

function spin(): void {
  const untilMs = monotonicMs() + SPIN_MS;
  while (monotonicMs() < untilMs);
}

function hoard(): void {
  const kept: object[] = [];
  for (let count = 0; count < HOARD_MAX; count += 1) {
    // Few and large: many small ones would be looked through for seconds before the end.
    kept.push(new Array(HOARD_LENGTH).fill({ count }));
  }
}
