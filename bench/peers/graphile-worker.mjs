/** graphile-worker. Four durable steps are four jobs, each of which adds the next. */
import { Logger, makeWorkerUtils, run } from 'graphile-worker';

const STEPS = 4;
const logger = new Logger(() => () => undefined);

export const openWith = (worker) => async (connectionString) => {
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  return {
    work: (on) =>
      run({
        noHandleSignals: true,
        preset: {
          worker: { connectionString, logger, concurrentJobs: 24, maxPoolSize: 26, ...worker },
        },
        taskList: {
          pickup: async (job) => void on.pickup(job),
          trivial: async () => void on.trivial(),
          four: async ({ n, step = 1 }, { addJob }) => {
            if (step < STEPS) await addJob('four', { n, step: step + 1 });
            else on.four();
          },
        },
      }),
    enqueue: (kind, job) => utils.addJob(kind, job),
    enqueueMany: (kind, jobs) =>
      utils.addJobs(jobs.map((payload) => ({ identifier: kind, payload }))),
  };
};
export const open = openWith({});
