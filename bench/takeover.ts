/**
 * How long a run stands still when its pod dies and takes its disk along: from the SIGKILL until
 * another pod is inside the phase again, after what the archive had.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdMint, systemClock, systemRandom } from '../src/ground/index.ts';
import { say } from './child.ts';
import { quantile } from './fleet.ts';
import { BenchDatabase, type BenchPod, startBenchPod, wallMs } from './fleet-pods.ts';

const RUNS = 40;
const SETTINGS = [
  { name: '15s', silence: '15s', heartbeat: '3s', kills: 3 },
  { name: '3s', silence: '3s', heartbeat: '500ms', kills: 8 },
] as const;
const mint = runIdMint(systemClock, systemRandom);

export async function benchTakeover(): Promise<object> {
  const p50Ms: Record<string, number> = {};
  const p99Ms: Record<string, number> = {};
  for (const setting of SETTINGS) {
    const times = await takeovers(setting);
    p50Ms[setting.name] = quantile(times, 0.5);
    p99Ms[setting.name] = quantile(times, 0.99);
    say(`silence ${setting.name}: p50 ${p50Ms[setting.name]} ms, p99 ${p99Ms[setting.name]} ms`);
  }
  return { runs: RUNS, p50Ms, p99Ms };
}

async function takeovers({ silence, heartbeat, kills }: (typeof SETTINGS)[number]) {
  const database = await BenchDatabase.start();
  const times: number[] = [];
  const options = { store: database.url, slots: 128, silence, heartbeat };
  // The leader stays: how long a new one takes to be steady is another figure.
  const leader = await startBenchPod({ ...options, slots: 1, dataDir: undefined });
  try {
    await enqueueHeld(database, RUNS);
    let owner = await startBenchPod(options);
    await untilAllBegan(owner, leader, RUNS);
    for (let kill = 0; kill < kills; kill++) {
      const heir = await startBenchPod(options);
      await sleep(3_000);
      const began = untilAllBegan(heir, leader, RUNS);
      const killedAt = wallMs();
      await owner.kill();
      times.push(...(await began).map((at) => at - killedAt));
      owner = heir;
    }
    await owner.kill();
  } finally {
    await leader.kill();
    await database.stop();
  }
  return times;
}

/** When each of the runs was last begun, by whichever of the two. */
function untilAllBegan(pod: BenchPod, other: BenchPod, count: number): Promise<number[]> {
  const began = new Map<number, number>();
  return new Promise((resolve) => {
    const onBegan = ({ n, at }: { readonly n: number; readonly at: number }) => {
      began.set(n, at);
      // One of them stays with the other pod, which has a single slot, and is not killed.
      if (began.size >= count - 1) resolve([...began.values()]);
    };
    pod.onBegan = onBegan;
    other.onBegan = onBegan;
  });
}

async function enqueueHeld(database: BenchDatabase, count: number): Promise<void> {
  const of = { machine: 'bench-held', version: 1, queue: 'default', priority: 0, due: undefined };
  const rest = { key: undefined, keyMs: 0, retriesMax: undefined, traceParent: undefined };
  await database.store.enqueue(
    Array.from({ length: count }, (_, n) => ({
      ...of,
      ...rest,
      id: mint(),
      payload: JSON.stringify({ n }),
      deadlineMs: 3_600_000,
    })),
  );
}
