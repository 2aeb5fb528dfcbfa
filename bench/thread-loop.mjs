/**
 * The hand loop with its journal in a worker thread: batches go over by message, and so do the acks.
 * One batch is on its way at a time, as a connection has one transaction at a time.
 */
import { Worker } from 'node:worker_threads';
import { rowsOf } from './raw-loop.mjs';

export function threadLoop(dataDir) {
  const worker = new Worker(new URL('thread-worker.mjs', import.meta.url), {
    workerData: { dataDir },
  });
  worker.unref();
  let waiting = [];
  let inFlight;

  worker.on('message', () => {
    const done = inFlight;
    inFlight = undefined;
    if (waiting.length > 0) send();
    for (const { resolve } of done) resolve();
  });
  function send() {
    inFlight = waiting;
    waiting = [];
    worker.postMessage(inFlight.map(({ row }) => row));
  }
  function append(row) {
    return new Promise((resolve) => {
      waiting.push({ row, resolve });
      if (waiting.length === 1 && !inFlight) setImmediate(() => inFlight ?? send());
    });
  }
  return rowsOf('raw', append);
}
