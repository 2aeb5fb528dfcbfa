/**
 * A pod under load that enqueues and executes its own tasks, and starts runs of its own host when it is
 * told to. Whatever was acknowledged to it, or done by it, is a line in a ledger outside. Of the built
 * package, so that it is up in a moment.
 */
import { fsyncSync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { createFleet, defineMachine, listen } from '../../dist/index.js';

const { ledger, everyMs, ...options } = JSON.parse(process.argv[2] ?? '{}');
const book = openSync(ledger, 'a', 0o600);
const write = (line) => {
  writeSync(book, `${JSON.stringify({ ...line, pod: options.podName })}\n`);
  fsyncSync(book);
};
const add = defineMachine({
  name: 'outage/add',
  version: 1,
  input: z.object({ n: z.int() }),
  check: 'none',
  work: async ({ input, runId }) => {
    write({ what: 'worked', id: runId });
    await sleep(5);
    return input.n + 1;
  },
});

let lastTimeline;
listen('task.settled', ({ run, to }) => {
  if (to === 'completed') write({ what: 'settled', id: run });
});
listen('store.failedOver', ({ to }) => {
  lastTimeline = to;
  write({ what: 'moved', to });
});
listen('store.rewound', (found) => write({ what: 'rewound', ...found, to: lastTimeline }));

const fleet = await createFleet({ ...options, machines: [add], socket: false });
let isLoading = everyMs > 0;
let hasEnded = false;

async function load() {
  for (let n = 0; !hasEnded; n += 1) {
    if (isLoading) {
      // What is not acknowledged was not promised; under its key it would be enqueued once.
      const enqueued = fleet.enqueue(add, { n }).then(({ id }) => write({ what: 'enqueued', id }));
      await enqueued.catch(() => sleep(100));
    }
    await sleep(Math.max(1, everyMs));
  }
}

async function startLocally(count, inMs) {
  for (let n = 0; n < count; n += 1) {
    const { id } = await fleet.startLocal(add, { n });
    write({ what: 'local', id });
    await sleep(inMs / count);
  }
  write({ what: 'started', count });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const order = JSON.parse(line);
  if (order.what === 'start') startLocally(order.count, order.inMs);
  else if (order.what === 'quiet') isLoading = false;
  else if (order.what === 'rss') {
    globalThis.gc?.();
    const aloneMs = fleet.status.pod?.aloneMs ?? null;
    write({ what: 'rss', at: order.at, bytes: process.memoryUsage().rss, aloneMs });
  } else if (order.what === 'end') {
    hasEnded = true;
    fleet.drain({ budget: '5s' }).then(() => process.exit(0));
  }
});
process.stdout.write('ready\n');
load();
