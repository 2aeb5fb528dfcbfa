/** The journal's end of `thread-loop`: writes a batch, answers when it is durable. */
import { parentPort, workerData } from 'node:worker_threads';
import { openRaw } from './raw-loop.mjs';

const write = openRaw(workerData.dataDir);
parentPort.on('message', (rows) => {
  write(rows);
  parentPort.postMessage(rows.length);
});
