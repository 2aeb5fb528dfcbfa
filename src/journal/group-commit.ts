/**
 * Many writers, one transaction: what is pushed during one turn of the loop is written together, and
 * every caller resumes when its own item is durable. While the journal cannot be written, items wait and
 * are tried again; only an item that the journal refuses for itself is rejected.
 */
import type { Cancel, Clock } from '../ground/index.ts';
import { JournalStalledError } from './errors.ts';

const BATCH_COUNT_MAX = 4_096;
const RETRY_MS_FIRST = 100;
const RETRY_MS_MAX = 2_000;

interface Waiting<T> {
  readonly item: T;
  readonly resolve: (item: T) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommitPorts<T> {
  readonly clock: Clock;
  /** Writes all of them durably in one transaction, or none and throws. */
  readonly write: (batch: readonly T[]) => void;
  /** Whether the failure is the item's own. Any other is the journal's: it stalls. */
  readonly isItems: (error: unknown) => boolean;
  readonly onStall: (error: Error) => void;
  readonly onRecover: () => void;
}

export class GroupCommit<T> {
  readonly #ports: GroupCommitPorts<T>;
  #waiting: Waiting<T>[] = [];
  #isScheduled = false;
  #retryMs = RETRY_MS_FIRST;
  #cancelRetry: Cancel | undefined;
  #isStopped = false;
  stalledBy: Error | undefined;

  constructor(ports: GroupCommitPorts<T>) {
    this.#ports = ports;
  }

  /** Resolves with the item once it is durable. */
  push(item: T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Writes what waits, now; throws if it cannot be written. */
  flushNow(): void {
    while (this.#waiting.length > 0) {
      this.#flush();
      if (this.stalledBy) throw this.stalledBy;
    }
  }

  /** Whoever still waits learns that it will not be written. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelRetry?.();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) {
      reject(new JournalStalledError(this.stalledBy ?? new Error('the journal was closed')));
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.stalledBy) return;
    this.#isScheduled = true;
    this.#ports.clock.soon(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const batch = this.#waiting.slice(0, BATCH_COUNT_MAX);
    // With nothing to write, an empty transaction tells whether writing works again.
    if (batch.length === 0 && !this.stalledBy) return;
    try {
      this.#ports.write(batch.map((waiting) => waiting.item));
    } catch (error) {
      if (this.#ports.isItems(error)) this.#writeOneByOne(batch);
      else this.#stall(error as Error);
      return;
    }
    this.#written(batch);
    for (const waiting of batch) waiting.resolve(waiting.item);
  }

  /** One item is at fault and would take the others down with it: each on its own then. */
  #writeOneByOne(batch: readonly Waiting<T>[]): void {
    for (const waiting of batch) {
      try {
        this.#ports.write([waiting.item]);
      } catch (error) {
        if (!this.#ports.isItems(error)) return this.#stall(error as Error);
        this.#written([waiting]);
        waiting.reject(error);
        continue;
      }
      this.#written([waiting]);
      waiting.resolve(waiting.item);
    }
  }

  #written(batch: readonly Waiting<T>[]): void {
    this.#waiting = batch.length === this.#waiting.length ? [] : this.#waiting.slice(batch.length);
    if (this.stalledBy) {
      this.stalledBy = undefined;
      this.#retryMs = RETRY_MS_FIRST;
      this.#ports.onRecover();
    }
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** Somebody else found that nothing can be written. */
  stall(error: Error): void {
    this.#stall(error);
  }

  #stall(error: Error): void {
    if (this.#isStopped) return;
    const isNew = this.stalledBy === undefined;
    this.stalledBy = error;
    if (isNew) this.#ports.onStall(error);
    this.#cancelRetry?.();
    this.#cancelRetry = this.#ports.clock.after(this.#retryMs, () => this.#flush());
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
  }
}
