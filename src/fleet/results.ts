/**
 * Waits for tasks to end. Everybody who waits in this process shares one look at the store; a hint, or
 * a settlement by this very process, makes it look at once.
 */
import {
  type Cancel,
  type Clock,
  describeError,
  type Random,
  type RunId,
} from '../ground/index.ts';
import { END_STATUSES, type EndStatus, type Store, type TaskRow } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { TaskNotFoundError } from './errors.ts';
import { Ladder } from './ladder.ts';

const LOOK_COUNT_MAX = 500;

interface Waiter {
  readonly resolve: (row: TaskRow) => void;
  readonly reject: (error: unknown) => void;
}

export interface ResultsPorts {
  readonly store: Pick<Store, 'find'>;
  readonly clock: Clock;
  readonly random: Random;
}

export class Results {
  readonly #ports: ResultsPorts;
  readonly #waiters = new Map<RunId, Set<Waiter>>();
  readonly #ladder = new Ladder();
  #cancel: Cancel | undefined;
  #looking: Promise<void> | undefined;
  #isHinted = false;
  /** Why nobody looks any more. */
  #stopped: Error | undefined;

  constructor(ports: ResultsPorts) {
    this.#ports = ports;
  }

  /** The task's row once it has ended. */
  ended(task: RunId, until: AbortSignal | undefined): Promise<TaskRow> {
    until?.throwIfAborted();
    if (this.#stopped) return Promise.reject(this.#stopped);
    return new Promise((resolve, reject) => {
      const forget = () => {
        until?.removeEventListener('abort', onAbort);
        waiters.delete(waiter);
        if (waiters.size === 0) this.#waiters.delete(task);
      };
      const onAbort = () => {
        forget();
        reject(until?.reason);
      };
      const waiter: Waiter = {
        resolve: (row) => {
          forget();
          resolve(row);
        },
        reject: (error) => {
          forget();
          reject(error);
        },
      };
      const waiters = this.#waiters.get(task) ?? new Set();
      waiters.add(waiter);
      this.#waiters.set(task, waiters);
      until?.addEventListener('abort', onAbort, { once: true });
      this.hint();
    });
  }

  /** Something has ended somewhere. */
  hint(): void {
    if (this.#waiters.size === 0) return;
    this.#ladder.reset();
    this.#isHinted = true;
    if (!this.#looking) this.#lookAfter(0);
  }

  stop(reason: Error): void {
    this.#stopped = reason;
    this.#cancel?.();
    for (const waiters of [...this.#waiters.values()]) {
      for (const waiter of [...waiters]) waiter.reject(reason);
    }
  }

  #lookAfter(ms: number): void {
    if (this.#stopped || this.#waiters.size === 0) return;
    this.#cancel?.();
    this.#cancel = this.#ports.clock.after(ms, () => {
      this.#isHinted = false;
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
        const { random } = this.#ports;
        this.#lookAfter(this.#isHinted ? 0 : this.#ladder.next(() => random.fraction()));
      });
    });
  }

  async #look(): Promise<void> {
    const ids = [...this.#waiters.keys()];
    try {
      for (let from = 0; from < ids.length && !this.#stopped; from += LOOK_COUNT_MAX) {
        await this.#lookAt(ids.slice(from, from + LOOK_COUNT_MAX));
      }
    } catch (error) {
      tell('store.failed', () => ({ what: 'find', error: describeError(error) }));
    }
  }

  async #lookAt(ids: readonly RunId[]): Promise<void> {
    const rows = new Map((await this.#ports.store.find(ids)).map((row) => [row.id, row]));
    for (const id of ids) {
      const row = rows.get(id);
      const waiters = [...(this.#waiters.get(id) ?? [])];
      if (!row) for (const { reject } of waiters) reject(new TaskNotFoundError(id));
      else if (isEnd(row.status)) for (const { resolve } of waiters) resolve(row);
    }
  }
}

function isEnd(status: string): status is EndStatus {
  return (END_STATUSES as readonly string[]).includes(status);
}
