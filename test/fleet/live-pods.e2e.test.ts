/** Pods that live and are left alone, in processes of their own on a real Postgres. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { StoreProxy } from '../../proof/chaos/proxy.ts';
import { type Ground, useCrashRig } from '../../proof/crash-points/rig.ts';
import { readLedger } from '../support/ledger.ts';

const { newGround } = useCrashRig();

const SILENT_MS = 2_000;
const TIMES = { heartbeatMs: 400, silentMs: SILENT_MS };
const NEVER_MS = 600_000;

const proxies: StoreProxy[] = [];
afterAll(() => {
  for (const proxy of proxies) proxy.stop();
});

/** A way to the database that can be cut for whoever goes it. */
async function wayTo(
  ground: Ground,
): Promise<{ readonly proxy: StoreProxy; readonly url: string }> {
  const { hostname: host, port } = new URL(ground.url);
  const proxy = new StoreProxy({ host, port: Number(port) });
  await proxy.start();
  proxies.push(proxy);
  return { proxy, url: Object.assign(new URL(ground.url), { port: String(proxy.port) }).href };
}

const begunIn = ({ ledger }: Ground) =>
  readLedger(ledger).filter(
    ({ step, phase, outcome }) => `${step}.${phase} ${outcome}` === 'b.work half',
  ).length;

const podsOf = async ({ store }: Ground) =>
  Object.fromEntries(
    (await store.pods()).map(({ name, pod, status }) => [name, `${pod} ${status}`]),
  );

describe.concurrent('a pod that lives', () => {
  test('I25: a phase that runs ten times the silence is never swept', async () => {
    const ground = await newGround();
    const machine = 'long';
    for (const name of ['alder', 'birch']) {
      await ground.start({ name, ...TIMES }).says(/ready/);
    }
    await ground.enqueue(machine);
    await ground.start({ name: 'cedar', machine, workMs: 10 * SILENT_MS, ...TIMES }).says(/ready/);
    const before = await podsOf(ground);
    const claimed = async () => (await ground.rows(machine))[0]!;
    await ground.until('it is in b.work', async () => begunIn(ground) === 1);
    const { epoch } = await claimed();
    const isOver = async () => (await claimed()).status !== 'claimed';
    await ground.until('the phase is over', isOver, 20 * SILENT_MS);
    expect(await claimed()).toMatchObject({ status: 'completed', epoch, claims: 1, crashes: 0 });
    expect(begunIn(ground)).toBe(1);
    expect(await podsOf(ground)).toEqual(before);
  }, 120_000);

  test('I28: the first pod back after an outage sweeps only whoever stays away', async () => {
    const ground = await newGround();
    const machine = 'cut-off';
    const tasks = 4;
    const ways = [await wayTo(ground), await wayTo(ground), await wayTo(ground)];
    const [first, second, third] = ways.map(({ proxy }) => proxy);
    const urls = ways.map(({ url }) => url);
    // The oldest leads, and is the first one back.
    await ground.start({ name: 'alder', url: urls[0]!, ...TIMES }).says(/ready/);
    await ground.enqueue(machine, tasks);
    const work = { machine, workMs: NEVER_MS };
    await ground.start({ name: 'birch', url: urls[1]!, ...work, ...TIMES }).says(/ready/);
    await ground.start({ name: 'cedar', url: urls[2]!, ...TIMES }).says(/ready/);
    await ground.until('its tasks are in b.work', async () => begunIn(ground) === tasks);
    await sleep(2.5 * SILENT_MS);
    const before = await podsOf(ground);
    const rows = await ground.rows(machine);

    for (const { proxy } of ways) proxy.cut('reset');
    await sleep(3 * SILENT_MS);
    first!.heal();
    await sleep(1.5 * SILENT_MS);
    expect(await podsOf(ground), 'swept by the first one back').toEqual(before);
    second!.heal();
    const { birch } = before;
    const isDown = async () => (await podsOf(ground))['cedar']!.endsWith(' down');
    await ground.until('the pod that stays away is swept', isDown);
    await sleep(SILENT_MS);
    expect(await podsOf(ground)).toMatchObject({ alder: before['alder'], birch });
    expect(await ground.rows(machine)).toEqual(
      rows.map((row) => ({ ...row, updatedAt: expect.any(Number) })),
    );
    expect(begunIn(ground)).toBe(tasks);
    third!.heal();
  }, 120_000);
});
