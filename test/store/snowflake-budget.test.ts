/** How many statements work takes in an account: they are what it bills. */
import { describe, expect, test } from 'vitest';
import { birthOf, claimRequest, completed, newTasks, podOf, segment } from './factories.ts';
import { useSnowflake } from './snowflake-harness.ts';

const TASKS = 1_000;
/** A gate for each kind: ten batches in, sixteen out and sixteen settled. */
const BUDGET = { hybrid: 110, standard: 130 } as const;

describe.each(['hybrid', 'standard'] as const)('in %s tables', (kind) => {
  const scene = useSnowflake(kind);

  test('a thousand tasks take few statements, and a heartbeat four', async () => {
    const { statements } = scene.account;
    const store = await scene.open();
    const pod = podOf('alder');
    await store.register(birthOf('alder'));
    statements.reset();
    for (let from = 0; from < TASKS; from += 100) await store.enqueue(newTasks(100));
    let ended = 0;
    while (ended < TASKS) {
      const claimed = await store.claim(claimRequest(pod, { countMax: 64 }));
      expect(claimed.length).toBeGreaterThan(0);
      const done = claimed.map((claim) => completed(claim, { tail: segment(claim, 0, 1) }));
      const answers = await store.settle(pod, done);
      ended += answers.filter((answer) => answer.kind === 'stood').length;
    }
    expect(statements.total).toBeLessThanOrEqual(BUDGET[kind]);
    statements.reset();
    const beat = { pod, seq: 0, nonce: 'a', lsn: 0, report: {} };
    expect(await store.beat(beat)).toMatchObject({ kind: 'taken', claimCount: 0 });
    expect(statements.total).toBe(4);
    await store.close();
  });
});
