/**
 * How the thread of a heart ends: by its own hand. A thread that is stopped from outside while it is
 * inside of SQLite, where it waits for a locked file, takes the whole process down with it: the driver
 * cannot go on in a thread that may run nothing any more. So it is asked, closes its store, and goes.
 *
 *   unopened ── the store is opened ──▶ opened ── asked to end, and closed ──▶ closed
 *       └───────────── nobody needs it: it can be stopped at any time ────────────▲
 */
import type { Worker } from 'node:worker_threads';
import { atMost, systemClock } from '../ground/index.ts';

/** Which of the shared numbers says where the thread stands with its store. */
export const STANDING = 2;
const [UNOPENED, OPENED, CLOSED] = [0n, 1n, 2n];

/** Far longer than SQLite holds a thread; one that still stands is stopped, whatever comes of it. */
const END_MS_MAX = 2_000;
/** A process that exits waits for so long at most, with everything in it standing still. */
const EXIT_MS_MAX = 500;

export type EndOrder = { readonly kind: 'end' };
const END: EndOrder = { kind: 'end' };

interface Thread {
  readonly worker: Worker;
  readonly shared: BigInt64Array;
}

/** In the thread, before it opens its store: false where it is not wanted any more. */
export function mayOpen(shared: BigInt64Array): boolean {
  return Atomics.compareExchange(shared, STANDING, UNOPENED, OPENED) === UNOPENED;
}

/** In the thread: it will not touch the store again. */
export function hasClosed(shared: BigInt64Array): void {
  Atomics.store(shared, STANDING, CLOSED);
  Atomics.notify(shared, STANDING);
}

/** Resolves when the thread is gone. */
export async function endThread({ worker, shared }: Thread): Promise<void> {
  if (!isInside(shared)) return void (await worker.terminate());
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.postMessage(END);
  await atMost(systemClock, END_MS_MAX, ended);
  await worker.terminate();
}

const living = new Set<Thread>();

/** Node stops the threads of a process that exits from outside, too. */
export function endWithProcess(thread: Thread): void {
  if (living.size === 0) process.on('exit', endAllNow);
  living.add(thread);
  thread.worker.once('exit', () => {
    living.delete(thread);
    hasClosed(thread.shared);
    if (living.size === 0) process.off('exit', endAllNow);
  });
}

function endAllNow(): void {
  const inside = [...living].filter(({ shared }) => isInside(shared));
  for (const { worker } of inside) worker.postMessage(END);
  for (const { shared } of inside) Atomics.wait(shared, STANDING, OPENED, EXIT_MS_MAX);
}

/** Whether it may be inside of its store; one that has not opened it never will from here on. */
function isInside(shared: BigInt64Array): boolean {
  return Atomics.compareExchange(shared, STANDING, UNOPENED, CLOSED) === OPENED;
}
