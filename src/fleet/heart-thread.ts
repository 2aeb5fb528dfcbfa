/** The thread in which a pod's heart beats. It has its own connection and shares three numbers. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert, atMost, describeError, systemClock, systemRandom } from '../ground/index.ts';
import { openStore, type PodId, type Store } from '../store/index.ts';
import { BeatLoop, type News } from './beat-loop.ts';
import { hasClosed, mayOpen } from './end-thread.ts';
import { deadlineOf } from './heart.ts';
import {
  DEADLINE,
  type FromThread,
  PROGRESS,
  type ThreadOrders,
  type ToThread,
} from './thread-heart.ts';

/** A server may not answer; then the connection is left to it. */
const CLOSE_MS_MAX = 250;

const orders = workerData as ThreadOrders;
const shared = new BigInt64Array(orders.shared);
assert(parentPort !== null, 'a heart beats in a thread');
const main = parentPort;
const say = (message: FromThread) => main.postMessage(message);

let news: News = { lsn: 0, report: {} };
const begun = new Promise<Extract<ToThread, { kind: 'begin' }>>((resolve) => {
  main.on('message', (message: ToThread) => {
    if (message.kind === 'news') news = message.news;
    else if (message.kind === 'end') end();
    else resolve(message);
  });
});

let opened: Store | undefined;

/** Whatever is under way is between two calls of the store, or this would not be heard. */
function end(): void {
  const closed = opened?.close().catch(() => undefined);
  hasClosed(shared);
  atMost(systemClock, CLOSE_MS_MAX, closed).then(() => process.exit(0));
}

if (!mayOpen(shared)) process.exit(0);
const store = await openStore(orders.url, {
  clock: systemClock,
  random: systemRandom,
  poolSize: 1,
  isPooled: orders.isPooled,
  // An answer that comes after the next beat is due helps nobody.
  // One that is taken late is told from a clone's by its nonce.
  toleratesLate: true,
  deadlineMs: Math.max(250, Math.min(orders.heartbeatMs, orders.silentMs / 4)),
});

opened = store;

// Only so that a connection is there: a beat that fails is tried again, and so would this be.
await store.checkSchema().catch(() => undefined);
say({ kind: 'ready' });
const { pod, nonce, since } = await begun;

new BeatLoop({
  store,
  clock: systemClock,
  pod: pod as PodId,
  nonce,
  since,
  onSending: (followed) => say({ kind: 'sending', followed }),
  heartbeatMs: orders.heartbeatMs,
  silentMs: orders.silentMs,
  mintNonce: () => systemRandom.hex(8),
  news: () => news,
  isAlive: () => {
    const progressMs = Number(Atomics.load(shared, PROGRESS)) / 1_000;
    return systemClock.monotonicMs() - progressMs < orders.silentMs;
  },
  onHeard: (heard) => {
    if (heard.answer.kind === 'taken') {
      const deadlineMs = deadlineOf(heard.sentMs, orders);
      Atomics.store(shared, DEADLINE, BigInt(Math.floor(deadlineMs * 1_000)));
    }
    say({ kind: 'heard', heard });
  },
  onFailed: (error, sentMs) => say({ kind: 'failed', error: describeError(error), sentMs }),
}).start();
