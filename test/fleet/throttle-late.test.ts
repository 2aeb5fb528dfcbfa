/** One limit for a whole fleet on a store that comes back from an outage, and answers late from then on. */
import { expect, test } from 'vitest';
import { defineThrottle } from '../../src/index.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { CountingApi } from './counting-api.ts';
import { HEARTBEAT_MS, type TestFleet, type TestPod, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
const CAP = 36;
const POD_COUNT = 12;
const CALLERS = 20;

async function stageOf(fleet: TestFleet) {
  const { clock } = fleet;
  const api = new CountingApi(clock, 1_000);
  const throttles = [defineThrottle('llm', { limits: { inFlight: CAP } })];
  const pods: TestPod[] = [];
  for (let index = 0; index < POD_COUNT; index++) {
    pods.push(await fleet.startPod(`pod-${index}`, { machines: [], throttles }));
  }
  const keepCalling = (pod: TestPod): void => {
    const call = pod.fleet.throttle('llm').use(api.call);
    const again = () => keepCalling(pod);
    call.then(again, () => clock.after(100, again));
  };
  for (const pod of pods) for (let index = 0; index < CALLERS; index++) keepCalling(pod);
  await clock.advance(20_000);
  return { api, pods };
}

const limitOf = (pod: TestPod) => pod.fleet.throttle('llm').snapshot().limit;

const CASES = [
  { what: 'all at once', seed: 1, backMs: 0, wayMs: 4 * HEARTBEAT_MS },
  { what: 'all at once', seed: 3, backMs: 0, wayMs: 4 * HEARTBEAT_MS },
  { what: 'one after the other', seed: 1, backMs: 12_000, wayMs: 1.5 * HEARTBEAT_MS },
  { what: 'one after the other', seed: 2, backMs: 12_000, wayMs: 1.5 * HEARTBEAT_MS },
];

test.each(CASES)(
  'pods that come back to a slow store $what have no more than there is, and all of it in the end: seed $seed',
  async ({ seed, backMs, wayMs }) => {
    const fleet = startFleet();
    const { clock } = fleet;
    const random = seededRandom(seed);
    const { api, pods } = await stageOf(fleet);
    expect(pods.map(limitOf)).toEqual(pods.map(() => CAP / POD_COUNT));
    for (const { wire } of pods) wire.isCut = true;
    await clock.advance(20_000);
    api.peak = api.busy;
    for (const { wire } of pods) {
      clock.after(random.fraction() * backMs, () => {
        wire.isCut = false;
        wire.delay = { clock, ms: () => random.fraction() * wayMs };
      });
    }
    await clock.advance(40_000);
    for (const { wire } of pods) wire.delay = undefined;
    await clock.advance(60_000);
    expect(api.peak).toBe(CAP);
    expect(pods.map(limitOf)).toEqual(pods.map(() => CAP / POD_COUNT));
  },
);
