/**
 * Single tasks that many callers enqueue at once. While few are on their way each is sent at once, by
 * itself; what comes beyond that waits, so that others find a connection, and goes together with the
 * others that wait by then:
 *
 *   put ─▶ few on their way ─▶ sent alone ─▶ its own answer
 *      └─▶ else waits ─▶ sent with others ─┘
 *
 * Only such tasks go together as nothing but themselves can hold up. One with a key, for which a
 * statement may have to wait until somebody else's transaction is over, waits likewise and goes alone.
 * What got no answer is sent once more, by the same ids, so that one lost connection fails nobody.
 */
import type { Clock } from '../ground/index.ts';
import {
  type EnqueueAnswer,
  type NewTask,
  StoreBusyError,
  StoreOptionsError,
  StoreSchemaError,
  StoreUnreachableError,
} from '../store/index.ts';

/** Statements on their way at once: enough to keep a server busy, few enough to leave connections. */
export const SENDING_COUNT_MAX = 4;
export const BATCH_COUNT_MAX = 500;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Whoever has so many callers waiting is told to wait for answers first. */
export const WAITING_COUNT_MAX = 100_000;
/** As long as a store is given for an answer: who has waited longer is told when it does not come. */
export const WAITING_MS_MAX = 10_000;

/** What is put in: a task, and whatever has to be known of it to send it. */
export interface Given {
  readonly task: NewTask;
}

export interface GathererPorts<G extends Given> {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** All of them or none, and answers in their order. */
  readonly send: (given: readonly G[]) => Promise<readonly EnqueueAnswer[]>;
  /** How many may go together. */
  readonly countMax: number;
}

interface Waiting<G extends Given> {
  readonly given: G;
  readonly sinceMs: number;
  readonly resolve: (answer: EnqueueAnswer) => void;
  readonly reject: (error: unknown) => void;
}

export class Gatherer<G extends Given> {
  readonly #ports: GathererPorts<G>;
  #waiting: Waiting<G>[] = [];
  #sendingCount = 0;
  #onIdle: (() => void)[] = [];

  constructor(ports: GathererPorts<G>) {
    this.#ports = ports;
  }

  put(given: G): Promise<EnqueueAnswer> {
    if (this.#waiting.length >= WAITING_COUNT_MAX) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ given, resolve, reject, sinceMs: this.#ports.clock.monotonicMs() });
      this.#sendMore();
    });
  }

  /** Resolves when everybody has an answer. */
  async idle(): Promise<void> {
    if (this.#sendingCount > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Who has not been sent yet will not be. */
  stop(error: Error): void {
    this.#refuse(this.#waiting.splice(0), error);
  }

  #sendMore(): void {
    while (this.#sendingCount < SENDING_COUNT_MAX && this.#waiting.length > 0) {
      this.#sendingCount += 1;
      const count = nextCount(this.#waiting, this.#ports.countMax);
      void this.#send(this.#waiting.splice(0, count)).then(() => this.#sent());
    }
  }

  #sent(): void {
    this.#sendingCount -= 1;
    this.#sendMore();
    if (this.#sendingCount === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Never fails: what goes wrong is told to those whom it concerns. */
  async #send(batch: readonly Waiting<G>[], isAgain = false): Promise<void> {
    try {
      const answers = await this.#ports.send(batch.map(({ given }) => given));
      for (const [index, { given, resolve }] of batch.entries()) {
        resolve(answerTo(given.task, answers[index]!));
      }
    } catch (error) {
      if (error instanceof StoreUnreachableError && !isAgain) return this.#sendAgain(batch, error);
      if (batch.length === 1 || isOfAll(error)) {
        this.#refuse(batch, error);
        if (error instanceof StoreUnreachableError) this.#refuseLate(error);
        return;
      }
      // One of them cannot be kept; nothing was: the others find out by halves.
      const middle = Math.ceil(batch.length / 2);
      await this.#send(batch.slice(0, middle), isAgain);
      await this.#send(batch.slice(middle), isAgain);
    }
  }

  /** Once: those who have waited for as long as an answer may take are told instead. */
  async #sendAgain(batch: readonly Waiting<G>[], error: StoreUnreachableError): Promise<void> {
    const lateCount = this.#lateOf(batch);
    this.#refuse(batch.slice(0, lateCount), error);
    this.#refuseLate(error);
    if (lateCount < batch.length) await this.#send(batch.slice(lateCount), true);
  }

  #refuse(batch: readonly Waiting<G>[], error: unknown): void {
    for (const { reject } of batch) reject(error);
  }

  #refuseLate(error: StoreUnreachableError): void {
    this.#refuse(this.#waiting.splice(0, this.#lateOf(this.#waiting)), error);
  }

  /** How many of them, the first ones, have waited for too long. */
  #lateOf(waiting: readonly Waiting<G>[]): number {
    const before = this.#ports.clock.monotonicMs() - WAITING_MS_MAX;
    const index = waiting.findIndex(({ sinceMs }) => sinceMs > before);
    return index < 0 ? waiting.length : index;
  }
}

/** One that was sent twice finds itself. */
export function answerTo({ id }: NewTask, answer: EnqueueAnswer): EnqueueAnswer {
  return answer.isNew || answer.id !== id ? answer : { ...answer, isNew: true };
}

/** How many of them go together: one at least. */
function nextCount(waiting: readonly Waiting<Given>[], countMax: number): number {
  let [count, bytes] = [0, 0];
  for (const { given } of waiting) {
    bytes += given.task.payload.length;
    if (count >= countMax || (count > 0 && bytes > BATCH_BYTES_MAX)) break;
    count += 1;
  }
  return count;
}

/** What is wrong with the store, and not with a task. */
function isOfAll(error: unknown): boolean {
  return (
    error instanceof StoreUnreachableError ||
    error instanceof StoreBusyError ||
    error instanceof StoreSchemaError ||
    error instanceof StoreOptionsError
  );
}

function tooMany(): StoreBusyError {
  return new StoreBusyError(`${WAITING_COUNT_MAX} tasks of this process wait to be enqueued`, {
    hint: 'wait for answers before you enqueue more, or use enqueueMany',
  });
}
