/** What a fleet on a real Postgres reaches: throughput, pickup, statements, claims under a backlog. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdMint, systemClock, systemRandom } from '../src/ground/index.ts';
import type { PodId, Store } from '../src/store/index.ts';
import { say } from './child.ts';
import { cpuMsOf } from './cpu.ts';
import { BenchDatabase, type BenchPod, startBenchPod, wallMs } from './fleet-pods.ts';
import { newTask } from './growth/tasks.ts';

const isFull = process.argv.includes('--full');
const RUNS = isFull ? 60_000 : 20_000;
const PICKUPS = 300;
const FINISHED = isFull ? 5_000_000 : 500_000;
const SLOTS = 512;

const mint = runIdMint(systemClock, systemRandom);
const taskOf = (machine: string, n: number) => newTask(mint(), machine, n);

/** `--only=throughput,pickup,claims`: a part of it, while something is being tuned. */
const only = process.argv.find((argument) => argument.startsWith('--only='));
const isWanted = (part: 'throughput' | 'pickup' | 'claims') =>
  only === undefined || only.slice('--only='.length).split(',').includes(part);

export async function benchFleet(): Promise<object> {
  const database = await BenchDatabase.start();
  try {
    return {
      runs: RUNS,
      ...(isWanted('throughput') && (await throughputs(database))),
      ...(isWanted('pickup') && (await pickup(database))),
      ...(isWanted('claims') && (await claimUnderBacklog(database))),
    };
  } finally {
    await database.stop();
  }
}

async function throughputs(database: BenchDatabase) {
  const four1 = await throughput(database, 'bench-four', 1);
  const four2 = await throughput(database, 'bench-four', 2);
  const trivial = await throughput(database, 'bench-trivial', 1);
  return {
    runsPerSecond: { pods1: four1.rate, pods2: four2.rate },
    workOnlyPerSecond: trivial.rate,
    statementsPer1000: four1.cost.statements,
    costPer1000: { pods1: four1.cost, pods2: four2.cost, workOnly: trivial.cost },
  };
}

async function throughput(database: BenchDatabase, machine: string, podCount: number) {
  await database.clear();
  for (let from = 0; from < RUNS; from += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, index) => taskOf(machine, from + index));
    await database.store.enqueue(batch);
  }
  const before = await database.spent();
  await database.statements();
  const options = { store: database.url, slots: SLOTS };
  const pods = await Promise.all(Array.from({ length: podCount }, () => startBenchPod(options)));
  // From when the first of them could begin until nothing is open.
  const begunAt = Math.min(...pods.map((pod) => pod.readyAt));
  while ((await database.openCount()) > 0) await sleep(20);
  const seconds = (wallMs() - begunAt) / 1_000;
  const statements = ((await database.statements()) / RUNS) * 1_000;
  const after = await database.spent();
  const podsMs = pods.reduce((sum, { child }) => sum + cpuMsOf(child.pid!), 0);
  await drainAll(pods);
  const rate = RUNS / seconds;
  const per1000 = (value: number) => Math.round((value / RUNS) * 10_000) / 10;
  const cost = {
    statements,
    databaseCpuMs: per1000(after.cpuMs - before.cpuMs),
    podsCpuMs: per1000(podsMs),
    walKiB: per1000((after.walBytes - before.walBytes) / 1_024),
  };
  say(`${machine} on ${podCount} pods: ${rate.toFixed(0)}/s; a thousand: ${JSON.stringify(cost)}`);
  return { rate, cost };
}

async function pickup(database: BenchDatabase) {
  await database.clear();
  const pod = await startBenchPod({ store: database.url, slots: SLOTS });
  const enqueuedAt = new Map<number, number>();
  const latencies: number[] = [];
  pod.onBegan = ({ n, at }) => latencies.push(at - enqueuedAt.get(n)!);
  for (let n = 0; n < PICKUPS; n++) {
    enqueuedAt.set(n, wallMs());
    await database.store.enqueue([taskOf('bench-pickup', n)]);
    await sleep(20 + systemRandom.fraction() * 30);
  }
  while (latencies.length < PICKUPS) await sleep(50);
  await sleep(2_000);
  await database.statements();
  await sleep(10_000);
  const idle = (await database.statements()) / 10;
  await drainAll([pod]);
  const pickupMs = { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
  say(
    `pickup p50 ${pickupMs.p50.toFixed(1)} ms, p99 ${pickupMs.p99.toFixed(1)} ms; idle ${idle}/s`,
  );
  return { pickupMs, idleStatementsPerSecond: idle };
}

async function claimUnderBacklog(database: BenchDatabase) {
  const { store } = database;
  await database.clear();
  const pod = mint() as string as PodId;
  const report = {};
  const of = { name: 'bench', journal: 'bench', boot: 1, lsn: 0, routes: [], report, nonce: 'n' };
  await store.register({ ...of, pod });
  await database.fill('bench-four', 10_000, 'pending');
  const at10k = await claimTimes(store, pod, 60);
  await database.fill('bench-four', 1_000_000, 'pending');
  const at1M = await claimTimes(store, pod, 100);
  say(`claim of 100: p99 ${at10k.p99.toFixed(1)} ms at 10 k, ${at1M.p99.toFixed(1)} ms at 1 M`);
  await database.clear();
  await database.fill('bench-four', FINISHED, 'completed');
  await database.fill('bench-four', 10_000, 'pending');
  const after = await claimTimes(store, pod, 60);
  say(`after ${FINISHED} finished rows: p99 ${after.p99.toFixed(1)} ms`);
  return {
    claimsPerSecond: at1M.rate,
    claimP99Ms: { '10k': at10k.p99, '1M': at1M.p99 },
    claimP50Ms: { '10k': at10k.p50, '1M': at1M.p50 },
    afterFinished5M: isFull ? after.p99 / at10k.p99 : null,
    afterFinished: {
      rows: FINISHED,
      ratio: after.p99 / at10k.p99,
      p50Ratio: after.p50 / at10k.p50,
    },
  };
}

async function claimTimes(store: Store, pod: PodId, count: number) {
  const times: number[] = [];
  let claimed = 0;
  for (let index = 0; index < count; index++) {
    const begun = performance.now();
    const request = { pod, routes: ['bench-four@1'], journal: 'bench', head: 'ready' } as const;
    const tasks = await store.claim({ ...request, countMax: 100, token: `${index}` });
    times.push(performance.now() - begun);
    claimed += tasks.length;
  }
  const totalMs = times.reduce((sum, ms) => sum + ms, 0);
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  return { p50, p99, rate: (claimed / totalMs) * 1_000 };
}

async function drainAll(pods: readonly BenchPod[]): Promise<void> {
  await Promise.all(pods.map((pod) => pod.drain()));
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
