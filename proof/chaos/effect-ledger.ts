/**
 * The ledger of one pod: appended, and fsynced before whoever wrote waits no longer. The loop goes on
 * while the disk works, or the ledger, and not the engine, would set the pace; what comes meanwhile
 * shares the next fsync.
 */
import { closeSync, fstatSync, fsync, openSync, readSync, writeSync } from 'node:fs';

export class EffectLedger {
  readonly #fd: number;
  #waiting: (() => void)[] = [];
  #isSyncing = false;

  constructor(file: string) {
    this.#fd = openSync(file, 'a+', 0o600);
    const last = Buffer.from('\n');
    readSync(this.#fd, last, 0, 1, Math.max(0, fstatSync(this.#fd).size - 1));
    // The process before was killed in the middle of a line: that one stays as it is, on its own.
    if (last.toString() !== '\n') writeSync(this.#fd, '\n');
  }

  /** In the file at once, so that no end of this process can lose it. */
  note(line: object): void {
    writeSync(this.#fd, `${JSON.stringify(line)}\n`);
  }

  /** Durable when this resolves. */
  write(line: object): Promise<void> {
    this.note(line);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#sync();
    });
  }

  #sync(): void {
    if (this.#isSyncing || this.#waiting.length === 0) return;
    this.#isSyncing = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    fsync(this.#fd, (error) => {
      if (error) throw error;
      this.#isSyncing = false;
      for (const resolve of waiting) resolve();
      this.#sync();
    });
  }

  close(): void {
    closeSync(this.#fd);
  }
}
