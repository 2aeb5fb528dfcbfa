/**
 * A ledger outside FleetQ: what handlers really did, one JSON line each, appended and fsynced before
 * the handler goes on. Lost and doubled effects are counted from here, never from our own tables.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';

export interface LedgerLine {
  readonly run: string;
  readonly step: string;
  /** `probe` where `check` was asked again after an interruption or a failure. */
  readonly phase: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly fencingToken: number;
  readonly outcome: string;
  /** What the run is about, as its starter called it. */
  readonly subject: string;
}

export class Ledger {
  readonly #fd: number;

  constructor(file: string) {
    this.#fd = openSync(file, 'a', 0o600);
  }

  /** Durable when this returns. O_APPEND: a line is whole or, if the process dies in it, the last. */
  write(line: object): void {
    writeSync(this.#fd, `${JSON.stringify(line)}\n`);
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** The same for many writers at once: what comes in one turn of the loop shares one fsync. */
export class GroupLedger {
  readonly #fd: number;
  #lines: string[] = [];
  #written: Promise<void> | undefined;

  constructor(file: string) {
    this.#fd = openSync(file, 'a+', 0o600);
    const last = Buffer.from('\n');
    readSync(this.#fd, last, 0, 1, Math.max(0, fstatSync(this.#fd).size - 1));
    // The process before was killed in the middle of a line: that one stays as it is, on its own.
    if (last.toString() !== '\n') writeSync(this.#fd, '\n');
  }

  /** Durable when this resolves. */
  write(line: object): Promise<void> {
    this.#lines.push(`${JSON.stringify(line)}\n`);
    this.#written ??= new Promise((resolve) => {
      setImmediate(() => {
        const text = this.#lines.join('');
        this.#lines = [];
        this.#written = undefined;
        writeSync(this.#fd, text);
        fsyncSync(this.#fd);
        resolve();
      });
    });
    return this.#written;
  }
}

/** The whole lines of a ledger; one that a kill cut short was never durable and says nothing. */
export function readLedger<T = LedgerLine>(file: string): T[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as T);
}
