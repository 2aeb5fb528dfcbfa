/**
 * What somebody who enqueues one task after the other waits for, before, in and after a spike of ten times
 * as many, while a pod executes them. Calls come by the clock, not by the answers before them: one that is
 * late is late for everybody behind it, as it is for people.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../src/index.ts';
import { say } from './child.ts';
import { mail } from './flow-intake.ts';

const PER_SECOND = 50;
const TIMES = 10;
const SECONDS = process.argv.includes('--full') ? 20 : 6;

interface Waited {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export async function benchSpike(fleet: Fleet): Promise<object> {
  await enqueueAt(fleet, PER_SECOND, 2);
  const before = await enqueueAt(fleet, PER_SECOND, SECONDS);
  const through = await enqueueAt(fleet, PER_SECOND * TIMES, SECONDS);
  const after = await enqueueAt(fleet, PER_SECOND, SECONDS);
  say(`spike: ${JSON.stringify({ before, through, after })}`);
  return { enqueueSpike: { before, through, after } };
}

async function enqueueAt(fleet: Fleet, perSecond: number, seconds: number): Promise<Waited> {
  const waits: number[] = [];
  const calls: Promise<unknown>[] = [];
  const begunMs = performance.now();
  for (let n = 0; n < perSecond * seconds; n += 1) {
    const dueMs = begunMs + (n * 1_000) / perSecond;
    const restMs = dueMs - performance.now();
    if (restMs > 0) await sleep(restMs);
    const call = fleet.enqueue(mail, { n, to: 'ada@example.org' });
    calls.push(call.then(() => waits.push(performance.now() - dueMs)));
  }
  await Promise.all(calls);
  const took = (performance.now() - begunMs) / 1_000;
  const at = (share: number) => {
    const sorted = waits.sort((one, other) => one - other);
    return Math.round(sorted[Math.floor(sorted.length * share)]! * 10) / 10;
  };
  return { perSecond: Math.round(waits.length / took), p50Ms: at(0.5), p99Ms: at(0.99) };
}
