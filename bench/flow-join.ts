/** The share of what is begun that a pod gets which joins another under a backlog, second by second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './child.ts';
import { BenchDatabase, startBenchPod } from './fleet-pods.ts';

const BACKLOG = process.argv.includes('--full') ? 400_000 : 150_000;
const SLOTS = 256;
const SECONDS = 8;
/** Nobody is judged by a second in which hardly anything was left to do. */
const BEGUN_MIN = 50;

export async function benchJoin(): Promise<object> {
  const database = await BenchDatabase.start();
  try {
    await database.fill('bench-pickup', BACKLOG, 'pending');
    const options = { store: database.url, slots: SLOTS };
    const begun: number[][] = [[], []];
    const elder = await startBenchPod(options);
    elder.onBegan = ({ at }) => begun[0]!.push(at);
    while (begun[0]!.length < SLOTS) await sleep(20);
    const joiner = await startBenchPod(options);
    joiner.onBegan = ({ at }) => begun[1]!.push(at);
    await sleep(SECONDS * 1_000);
    await Promise.all([elder.kill(), joiner.kill()]);
    const shares = sharesOf(begun, joiner.readyAt);
    say(`joining: ${JSON.stringify(shares)}`);
    return { join: { pods: 2, backlog: BACKLOG, ...shares } };
  } finally {
    await database.stop();
  }
}

function sharesOf(begun: readonly number[][], fromMs: number) {
  const counts = Array.from({ length: SECONDS }, (_, second) =>
    begun.map((times) => times.filter((at) => Math.floor((at - fromMs) / 1_000) === second).length),
  );
  const isJudged = ([elder, joiner]: number[]) => elder! + joiner! >= BEGUN_MIN;
  const shareBySecond = counts
    .filter(isJudged)
    .map(([elder, joiner]) => Math.round((joiner! / (elder! + joiner!)) * 100) / 100);
  // Its part of two equal ones is a half; nine tenths of that is as good as there.
  const at = shareBySecond.findIndex((share) => share >= 0.45);
  return { shareBySecond, secondsToShare: at < 0 ? null : at + 1 };
}
