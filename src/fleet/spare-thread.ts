/**
 * The thread of a heart, and one that is started ahead: it takes long to start on a busy host, and a
 * process that takes over from another can have it ready, with the store open, before it is its turn.
 */
import { Worker } from 'node:worker_threads';
import { endThread, endWithProcess } from './end-thread.ts';
import type { FromThread, ThreadOrders } from './thread-heart.ts';

export type ThreadWay = Omit<ThreadOrders, 'shared'>;

export interface HeartThread {
  readonly worker: Worker;
  /** Until when phases may begin, when the main loop last made progress, and whether its store is open. */
  readonly shared: BigInt64Array;
  /** True once it can beat at once; false where it has ended before that. */
  readonly isReady: Promise<boolean>;
}

export function startHeartThread(way: ThreadWay): HeartThread {
  const shared = new BigInt64Array(new SharedArrayBuffer(24));
  const orders: ThreadOrders = { ...way, shared: shared.buffer as SharedArrayBuffer };
  const entry = import.meta.url.endsWith('.ts') ? './heart-thread.ts' : './heart-thread.js';
  const worker = new Worker(new URL(entry, import.meta.url), { workerData: orders });
  endWithProcess({ worker, shared });
  // Whoever has the thread hears why it broke; until somebody has it, nobody need.
  worker.on('error', () => undefined);
  const isReady = new Promise<boolean>((resolve) => {
    worker.on('message', ({ kind }: FromThread) => kind === 'ready' && resolve(true));
    worker.on('exit', () => resolve(false));
  });
  // The pod decides how long the process lives, not its heart. But there is no pod before it is ready,
  // and a store whose sockets are idle keeps no process up.
  isReady.then(() => worker.unref());
  return { worker, shared, isReady };
}

/** One thread, for whoever asks first. */
export class SpareThread {
  #thread: HeartThread | undefined;

  /** Resolves when it can beat, or has ended for want of a store. */
  async start(way: ThreadWay): Promise<void> {
    const thread = startHeartThread(way);
    this.#thread = thread;
    if (!(await thread.isReady) && this.#thread === thread) this.#thread = undefined;
  }

  take(): HeartThread | undefined {
    const thread = this.#thread;
    this.#thread = undefined;
    return thread;
  }

  async stop(): Promise<void> {
    const thread = this.take();
    if (thread) await endThread(thread);
  }
}
