/** The thread in which a pod's heart beats. It has its own connection and shares two numbers. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert, describeError, type Json, systemClock, systemRandom } from '../ground/index.ts';
import { openStore, type PodId } from '../store/index.ts';
import { BeatLoop } from './beat-loop.ts';
import { DEADLINE, type FromThread, PROGRESS, type ThreadOrders } from './thread-heart.ts';

const orders = workerData as ThreadOrders;
const shared = new BigInt64Array(orders.shared);
assert(parentPort !== null, 'a heart beats in a thread');
const main = parentPort;
const say = (message: FromThread) => main.postMessage(message);

let news: { lsn: number; report: Json } = { lsn: 0, report: {} };
main.on('message', (message: typeof news) => {
  news = message;
});

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

new BeatLoop({
  store,
  clock: systemClock,
  pod: orders.pod as PodId,
  nonce: orders.nonce,
  heartbeatMs: orders.heartbeatMs,
  mintNonce: () => systemRandom.hex(8),
  news: () => news,
  isAlive: () => {
    const progressMs = Number(Atomics.load(shared, PROGRESS)) / 1_000;
    return systemClock.monotonicMs() - progressMs < orders.silentMs;
  },
  onHeard: (heard) => {
    if (heard.answer.kind === 'taken') {
      const deadlineMs = heard.sentMs + orders.silentMs - orders.heartbeatMs;
      Atomics.store(shared, DEADLINE, BigInt(Math.floor(deadlineMs * 1_000)));
    }
    say({ kind: 'heard', heard });
  },
  onFailed: (error) => say({ kind: 'failed', message: describeError(error).message }),
}).start();
