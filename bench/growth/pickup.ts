/**
 * From the enqueue of one task until its first phase begins: in an idle fleet, and right after a busy phase, as
 * there are more and more pods. Tasks come one by one from this process, some 50 a second.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { say } from '../child.ts';
import { BenchDatabase, wallMs } from '../fleet-pods.ts';
import { newTask } from './tasks.ts';

const isFull = process.argv.includes('--full');
const PODS = isFull ? [1, 8, 32, 64] : [1, 8, 32];
const PROCESSES = 4;
const TASKS = 300;
const BUSY = 20_000;
const mint = runIdMint(systemClock, systemRandom);

export async function growthOfPickup(): Promise<object> {
  const rows: object[] = [];
  for (const pods of PODS) rows.push(await measured(pods));
  return { rows };
}

async function measured(pods: number): Promise<object> {
  const database = await BenchDatabase.start();
  const children: Child[] = [];
  try {
    const processes = Math.min(pods, PROCESSES);
    for (let n = 0; n < processes; n++) {
      children.push(await startChild(database.url, `pod-${n}`, pods / processes));
    }
    await sleep(5_000);
    await database.statements();
    const from = wallMs();
    await sleep(5_000);
    const idleStatements = (await database.statements()) / ((wallMs() - from) / 1_000);
    const idle = await trickle(database, children);
    await burst(database);
    const afterBusy = await trickle(database, children);
    const row = { pods, idleStatementsPerSecond: idleStatements, idle, afterBusy };
    say(JSON.stringify(row));
    return row;
  } finally {
    for (const { process: child, root } of children) {
      child.kill('SIGKILL');
      await once(child, 'exit');
      removeTree(root);
    }
    await database.stop();
  }
}

interface Child {
  readonly process: ChildProcess;
  readonly root: string;
}

async function startChild(store: string, name: string, pods: number): Promise<Child> {
  const program = fileURLToPath(new URL('pods-child.mjs', import.meta.url));
  const child = fork(program, [JSON.stringify({ store, name, pods })], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [{ root }] = (await once(child, 'message')) as [{ root: string }];
  return { process: child, root };
}

async function trickle(database: BenchDatabase, children: readonly Child[]) {
  const enqueuedAt = new Map<number, number>();
  const latencies: number[] = [];
  const onMessage = ({ n, at }: { n: number; at: number }) => {
    latencies.push(at - enqueuedAt.get(n)!);
  };
  for (const { process: child } of children) child.on('message', onMessage);
  await database.statements();
  for (let n = 0; n < TASKS; n++) {
    enqueuedAt.set(n, wallMs());
    await database.store.enqueue([newTask(mint(), 'bench-pickup', n)]);
    await sleep(10 + systemRandom.fraction() * 20);
  }
  while (latencies.length < TASKS) await sleep(50);
  const statements = (await database.statements()) / TASKS;
  for (const { process: child } of children) child.off('message', onMessage);
  latencies.sort((a, b) => a - b);
  const at = (share: number) => Math.round(latencies[Math.floor((TASKS - 1) * share)]! * 10) / 10;
  return { p50: at(0.5), p99: at(0.99), statementsPerTask: Math.round(statements * 10) / 10 };
}

/** As many tasks as keep the fleet busy for some ten seconds. */
async function burst(database: BenchDatabase): Promise<void> {
  for (let from = 0; from < BUSY; from += 1_000) {
    await database.store.enqueue(
      Array.from({ length: 1_000 }, (_, index) => newTask(mint(), 'bench-trivial', from + index)),
    );
  }
  while ((await database.openCount()) > 0) await sleep(50);
}
