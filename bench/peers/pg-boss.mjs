/** pg-boss, with notifications, and batches as its pages have them. Four durable steps are four jobs. */
import { PgBoss } from 'pg-boss';

const STEPS = 4;

export async function open(connectionString) {
  const boss = new PgBoss({ connectionString, useListenNotify: true });
  boss.on('error', () => undefined);
  await boss.start();
  for (const name of ['pickup', 'trivial', 'four']) await boss.createQueue(name, { notify: true });
  const each = (act) => async (jobs) => {
    for (const { data } of jobs) await act(data);
  };
  return {
    async work(on) {
      const options = {
        pollingIntervalSeconds: 0.5,
        notifyPollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
        localConcurrency: 4,
      };
      await boss.work('pickup', { ...options, batchSize: 1 }, each(on.pickup));
      await boss.work('trivial', { ...options, batchSize: 200 }, each(on.trivial));
      await boss.work('four', { ...options, batchSize: 200 }, async (jobs) => {
        const next = [];
        for (const {
          data: { n, step = 1 },
        } of jobs) {
          if (step < STEPS) next.push({ data: { n, step: step + 1 } });
          else on.four();
        }
        if (next.length > 0) await boss.insert('four', next);
      });
    },
    enqueue: (kind, job) => boss.send(kind, job),
    enqueueMany: (kind, jobs) =>
      boss.insert(
        kind,
        jobs.map((data) => ({ data })),
      ),
  };
}
