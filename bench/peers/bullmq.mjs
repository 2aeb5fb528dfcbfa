/** BullMQ on a Redis that syncs its log at each command: the durability that the others have. */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

const STEPS = 4;

export async function open(url) {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queues = new Map();
  const queueOf = (name) => {
    if (!queues.has(name)) queues.set(name, new Queue(name, { connection }));
    return queues.get(name);
  };
  return {
    async work(on) {
      const start = (name, act) => new Worker(name, act, { connection, concurrency: 64 });
      const workers = [
        start('pickup', async ({ data }) => void on.pickup(data)),
        start('trivial', async () => void on.trivial()),
        start('four', async ({ data: { n, step = 1 } }) => {
          if (step < STEPS) await queueOf('four').add('four', { n, step: step + 1 });
          else on.four();
        }),
      ];
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    enqueue: (kind, job) => queueOf(kind).add(kind, job),
    enqueueMany: (kind, jobs) => queueOf(kind).addBulk(jobs.map((data) => ({ name: kind, data }))),
  };
}
