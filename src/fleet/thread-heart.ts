/**
 * A heart in a thread of its own. Two numbers are shared: until when phases may begin, written by the
 * thread, and when the main loop last made progress, written here. A main loop that stands still for
 * longer than the silence lets its pod be taken for dead, as it should be.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Cancel } from '../ground/index.ts';
import type { Followed, Heard } from './beat-loop.ts';
import { HeartFailedError } from './errors.ts';
import type { Heart, HeartOptions, MakeHeart } from './heart.ts';

/** What the thread is told when it starts. */
export interface ThreadOrders {
  readonly url: string;
  readonly isPooled: boolean;
  readonly pod: string;
  readonly nonce: string;
  readonly heartbeatMs: number;
  readonly silentMs: number;
  readonly shared: SharedArrayBuffer;
}

export type ToThread =
  | { readonly kind: 'news'; readonly news: ReturnType<HeartOptions['news']> }
  | { readonly kind: 'begin'; readonly since: Followed };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'sending'; readonly followed: Followed }
  | { readonly kind: 'heard'; readonly heard: Heard }
  | { readonly kind: 'failed'; readonly message: string };

/** Microseconds, so that whole numbers do; the index of each in the shared array. */
export const DEADLINE = 0;
export const PROGRESS = 1;

export function threadHeart(url: string, isPooled: boolean): MakeHeart {
  return (options) => new ThreadHeart(url, isPooled, options);
}

class ThreadHeart implements Heart {
  readonly #url: string;
  readonly #isPooled: boolean;
  readonly #options: HeartOptions;
  readonly #shared = new BigInt64Array(new SharedArrayBuffer(16));
  #worker: Worker | undefined;
  #followed: Followed;
  #hasBegun = false;
  #cancel: Cancel | undefined;

  constructor(url: string, isPooled: boolean, options: HeartOptions) {
    this.#url = url;
    this.#isPooled = isPooled;
    this.#options = options;
    this.#followed = { seq: 0, nonces: [options.nonce] };
    Atomics.store(this.#shared, DEADLINE, BigInt(Number.MIN_SAFE_INTEGER));
  }

  get deadlineMs(): number {
    return Number(Atomics.load(this.#shared, DEADLINE)) / 1_000;
  }

  /** A thread takes long to start on a busy host, and all that time a registered pod would be silent. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = this.#startThread();
      worker.on('message', ({ kind }: FromThread) => kind === 'ready' && resolve());
      worker.on('exit', () => {
        if (this.#worker === worker && !this.#hasBegun) this.#cancel?.();
        reject(new HeartFailedError());
      });
    });
  }

  start(): void {
    this.#hasBegun = true;
    const worker = this.#worker ?? this.#startThread();
    worker.postMessage({ kind: 'begin', since: this.#followed } satisfies ToThread);
  }

  #startThread(): Worker {
    const { pod, nonce, heartbeatMs, silentMs } = this.#options;
    const orders: ThreadOrders = {
      url: this.#url,
      isPooled: this.#isPooled,
      pod,
      nonce,
      heartbeatMs,
      silentMs,
      shared: this.#shared.buffer as SharedArrayBuffer,
    };
    const worker = new Worker(threadEntry(), { workerData: orders });
    // The pod decides how long the process lives, not its heart.
    worker.unref();
    worker.on('message', (message: FromThread) => this.#hear(message));
    worker.on('error', (error) => this.#options.onFailed(error));
    worker.on('exit', () => this.#beatAgain(worker));
    this.#worker = worker;
    this.#tick();
    return worker;
  }

  #hear(message: FromThread): void {
    const { onHeard, onFailed } = this.#options;
    if (message.kind === 'sending') this.#followed = message.followed;
    else if (message.kind === 'heard') onHeard(message.heard);
    else if (message.kind === 'failed') onFailed(new Error(message.message));
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
    await worker?.terminate();
  }

  /** Says that the main loop turns, with what the thread is to report next. */
  #tick(): void {
    const { clock, heartbeatMs, news } = this.#options;
    Atomics.store(this.#shared, PROGRESS, BigInt(Math.floor(clock.monotonicMs() * 1_000)));
    this.#worker?.postMessage({ kind: 'news', news: news() } satisfies ToThread);
    this.#cancel = clock.after(heartbeatMs / 4, () => this.#tick(), { idle: true });
  }
}

/** As built, the thread's own file. From source, a line of JavaScript that lets it be TypeScript. */
function threadEntry(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('./heart-thread.js', import.meta.url);
  const required = createRequire(import.meta.url).resolve('tsx/esm/api');
  const tsx = pathToFileURL(required.replace(/\.cjs$/, '.mjs')).href;
  const entry = new URL('./heart-thread.ts', import.meta.url).href;
  const script = `import{register}from'${tsx}';register();await import('${entry}');`;
  return new URL(`data:text/javascript,${encodeURIComponent(script)}`);
}
