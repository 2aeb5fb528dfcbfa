/** How many statements work takes in an account: they are what it bills. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/ground/index.ts';
import { openerOf } from '../../src/store/snowflake/driver.ts';
import type { OpenSession } from '../../src/store/snowflake/executor.ts';
import { openOver } from '../../src/store/snowflake/open.ts';
import { readSnowflakeWay } from '../../src/store/snowflake/options.ts';
import type { Store } from '../../src/store/store.ts';
import type { EnqueueAnswer } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { birthOf, claimRequest, completed, HOUR, newTasks, podOf, segment } from './factories.ts';
import { addressOf, LIMITS, PORTS, useSnowflake } from './snowflake-harness.ts';

const TASKS = 1_000;
/** A gate for each kind: ten batches in, sixteen out and sixteen settled; and the bell, once. */
const BUDGET = { hybrid: 111, standard: 131 } as const;
/** What a pod asks in an hour of rest, by test/fleet/rest.test.ts; its two minutes of idling come first. */
const LOOKS_AN_HOUR = 65;
const LYING_DOWN_MAX = 8;

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

  test('whoever waited long for a lock rings once more: somebody may have lain down meanwhile', async () => {
    let shiftMs = 0;
    const clock = {
      ...systemClock,
      now: () => systemClock.now() + shiftMs,
      monotonicMs: () => systemClock.monotonicMs() + shiftMs,
    };
    const open = await openerOf(readSnowflakeWay(addressOf(scene.account), {}));
    const slow: OpenSession = async () => {
      const session = await open();
      const execute: typeof session.execute = async (text, binds) => {
        if (/into step_tracker/i.test(text)) shiftMs += 31_000;
        return session.execute(text, binds);
      };
      return { execute, close: () => session.close() };
    };
    const store = await openOver(slow, LIMITS, { ...PORTS, clock });
    const rings = async () => (await scene.client.query('select from public.doorbell')).rowCount!;
    const before = await rings();
    await store.enqueue(newTasks(1));
    expect(await rings()).toBe(before + 2);
    await store.close();
    await scene.client.query('truncate public.step_tracker');
  });

  test('an hour of rest takes few statements, and none of them a warehouse', async () => {
    const { statements } = scene.account;
    const store = await scene.open();
    const pod = podOf('birch');
    await store.register(birthOf('birch'));
    await emptied(store, pod);
    // The bell has rung just now: nobody lies down before that is a while ago.
    expect(await store.rest!(pod)).toBeUndefined();
    scene.account.advance(61_000);
    await store.beat({ pod, seq: 0, nonce: 'b', lsn: 0, report: {} });
    statements.reset();
    const repose = await store.rest!(pod);
    expect(repose).toMatchObject({ wakeInMs: 6 * HOUR });
    expect(statements.total).toBeLessThanOrEqual(LYING_DOWN_MAX);
    expect(await store.pods()).toContainEqual(
      expect.objectContaining({ pod, status: 'down', desired: 'rest' }),
    );
    statements.reset();
    for (let look = 0; look < LOOKS_AN_HOUR; look += 1) {
      expect(await store.mark!()).toBe(repose!.mark);
    }
    expect(statements).toMatchObject({
      total: LOOKS_AN_HOUR,
      withoutWarehouse: LOOKS_AN_HOUR,
      warehouseSeconds: 0,
    });
    // Another process, which has not rung lately.
    const other = await scene.open();
    await other.enqueue(newTasks(1));
    expect(await store.mark!()).not.toBe(repose!.mark);
    await other.close();
    await store.close();
  });
});

/** Nothing is left to do, and the others have left. */
async function emptied(store: Store, pod: PodId): Promise<void> {
  const open = await store.list({ isInFlight: true, countMax: 10 });
  expect(open).toEqual([]);
  for (const other of await store.pods()) {
    if (other.pod === pod) continue;
    await store.fence(other.pod, pod, 'proved');
    await store.retire(other.pod);
  }
  // A change of work, for the bell.
  const [{ id }] = (await store.enqueue(newTasks(1))) as [EnqueueAnswer];
  await store.act({
    ...{ requestId: `cancel ${pod}`, who: 'test', via: 'test', task: id },
    deed: { what: 'cancel', reason: 'test' },
  });
}
