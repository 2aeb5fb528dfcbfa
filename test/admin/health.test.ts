/** What probes are told of a pod that is ready, and alone. */
import { expect, test } from 'vitest';
import { HealthServer } from '../../src/admin/index.ts';

test('a pod without the store stays ready, and says for how long it has been alone', async () => {
  let remark: string | undefined;
  const health = new HealthServer({
    listen: '127.0.0.1:0',
    whyNotReady: () => undefined,
    remark: () => remark,
    metrics: { text: async () => ({ type: 'text/plain', text: '' }) },
  });
  const at = await health.start();
  try {
    const told = async () => {
      const answer = await fetch(`http://${at}/readyz`);
      return [answer.status, await answer.text()];
    };
    expect(await told()).toEqual([200, 'ready\n']);
    remark = 'the store has not answered for 40 s past the deadline';
    expect(await told()).toEqual([200, `ready; ${remark}\n`]);
  } finally {
    await health.stop();
  }
});
