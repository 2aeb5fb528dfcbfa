/** DBOS Transact: workflows on a queue, four of its steps in one of them. */
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';

const QUEUE = 'jobs';

export async function open(systemDatabaseUrl) {
  let client;
  const enqueue = async (workflowName, job) => {
    client ??= DBOSClient.create({ systemDatabaseUrl });
    await (await client).enqueue({ workflowName, queueName: QUEUE, applicationName: 'bench' }, job);
  };
  return {
    async work(on) {
      DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error' });
      DBOS.registerWorkflow(async (job) => void on.pickup(job), { name: 'pickup' });
      DBOS.registerWorkflow(async () => void on.trivial(), { name: 'trivial' });
      const four = async ({ n }) => {
        for (const name of ['check', 'work', 'validate'])
          await DBOS.runStep(async () => n, { name });
        await DBOS.runStep(async () => void on.four(), { name: 'persist' });
      };
      DBOS.registerWorkflow(four, { name: 'four' });
      await DBOS.launch();
      await DBOS.registerQueue(QUEUE, { workerConcurrency: 256, minPollingIntervalMs: 50 });
    },
    enqueue,
    enqueueMany: async (kind, jobs) => {
      await Promise.all(jobs.map((job) => enqueue(kind, job)));
    },
  };
}
