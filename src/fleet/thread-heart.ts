/**
 * A heart in a thread of its own. Numbers are shared: until when phases may begin, written by the
 * thread, and when the main loop last made progress, written here. A main loop that stands still for
 * longer than the silence lets its pod be taken for dead, as it should be.
 */
import type { Worker } from 'node:worker_threads';
import type { Cancel, ErrorInfo } from '../ground/index.ts';
import type { Followed, Heard } from './beat-loop.ts';
import { type EndOrder, endThread } from './end-thread.ts';
import { HeartFailedError } from './errors.ts';
import type { Heart, HeartOptions, MakeHeart } from './heart.ts';
import { type SpareThread, startHeartThread } from './spare-thread.ts';

/** What the thread is told when it starts. */
export interface ThreadOrders {
  readonly url: string;
  readonly isPooled: boolean;
  readonly heartbeatMs: number;
  readonly silentMs: number;
  readonly shared: SharedArrayBuffer;
}

export type ToThread =
  | EndOrder
  | { readonly kind: 'news'; readonly news: ReturnType<HeartOptions['news']> }
  | {
      readonly kind: 'begin';
      readonly pod: string;
      readonly nonce: string;
      readonly since: Followed;
    };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'sending'; readonly followed: Followed }
  | { readonly kind: 'heard'; readonly heard: Heard }
  | { readonly kind: 'failed'; readonly error: ErrorInfo; readonly sentMs: number };

/** Microseconds, so that whole numbers do; the index of each in the shared array. */
export const DEADLINE = 0;
export const PROGRESS = 1;

export function threadHeart(url: string, isPooled: boolean, spare?: SpareThread): MakeHeart {
  return (options) => new ThreadHeart(url, isPooled, options, spare);
}

class ThreadHeart implements Heart {
  readonly #url: string;
  readonly #isPooled: boolean;
  readonly #options: HeartOptions;
  readonly #spare: SpareThread | undefined;
  #shared = notYet(new BigInt64Array(3));
  #worker: Worker | undefined;
  #followed: Followed;
  #hasBegun = false;
  #cancel: Cancel | undefined;

  constructor(url: string, isPooled: boolean, options: HeartOptions, spare?: SpareThread) {
    this.#url = url;
    this.#spare = spare;
    this.#isPooled = isPooled;
    this.#options = options;
    this.#followed = { seq: 0, nonces: [options.nonce] };
  }

  get deadlineMs(): number {
    return Number(Atomics.load(this.#shared, DEADLINE)) / 1_000;
  }

  /** A thread takes long to start on a busy host, and all that time a registered pod would be silent. */
  async ready(): Promise<void> {
    const { worker, isReady } = this.#startThread();
    if (await isReady) return;
    if (this.#worker === worker && !this.#hasBegun) this.#cancel?.();
    throw new HeartFailedError();
  }

  start(): void {
    this.#hasBegun = true;
    const worker = this.#worker ?? this.#startThread().worker;
    const { pod, nonce } = this.#options;
    worker.postMessage({ kind: 'begin', pod, nonce, since: this.#followed } satisfies ToThread);
  }

  #startThread() {
    const { heartbeatMs, silentMs } = this.#options;
    const way = { url: this.#url, isPooled: this.#isPooled, heartbeatMs, silentMs };
    const thread = this.#spare?.take() ?? startHeartThread(way);
    const { worker } = thread;
    // One that follows another goes by what that one was told last, until it is answered itself.
    Atomics.store(thread.shared, DEADLINE, Atomics.load(this.#shared, DEADLINE));
    this.#shared = thread.shared;
    worker.on('message', (message: FromThread) => this.#hear(message));
    worker.on('error', (error) => this.#options.onFailed(error));
    worker.on('exit', () => this.#beatAgain(worker));
    this.#worker = worker;
    this.#tick();
    return thread;
  }

  #hear(message: FromThread): void {
    const { onHeard, onFailed } = this.#options;
    if (message.kind === 'sending') this.#followed = message.followed;
    else if (message.kind === 'heard') onHeard(message.heard);
    else if (message.kind === 'failed') onFailed(thrownOf(message.error), message.sentMs);
  }

  /** A thread that could not open the store, or broke, is followed by another, which goes on with it. */
  #beatAgain(ended: Worker): void {
    if (this.#worker !== ended || !this.#hasBegun) return;
    this.#worker = undefined;
    this.#cancel?.();
    const { clock, heartbeatMs } = this.#options;
    this.#cancel = clock.after(heartbeatMs, () => this.start());
  }

  async stop(): Promise<void> {
    this.#cancel?.();
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker) await endThread({ worker, shared: this.#shared });
  }

  /** Says that the main loop turns, with what the thread is to report next. */
  #tick(): void {
    const { clock, heartbeatMs, news } = this.#options;
    Atomics.store(this.#shared, PROGRESS, BigInt(Math.floor(clock.monotonicMs() * 1_000)));
    this.#worker?.postMessage({ kind: 'news', news: news() } satisfies ToThread);
    this.#cancel = clock.after(heartbeatMs / 4, () => this.#tick(), { idle: true });
  }
}

/** What was thrown in the thread, as far as it can be told over here. */
function thrownOf({ message, code }: ErrorInfo): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

/** No beat was ever taken. */
function notYet(shared: BigInt64Array): BigInt64Array {
  shared[DEADLINE] = BigInt(Number.MIN_SAFE_INTEGER);
  return shared;
}
