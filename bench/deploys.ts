/**
 * What a deploy costs: pods that leave under load, one after the other, each replaced before it goes, on
 * a real Postgres; and processes that hand their data directory over on one host, with a store and
 * without. Everything is taken from ledgers that handlers write, outside of what FleetQ keeps.
 *
 * --drains N, --pods N, --handovers N (of each kind); --minutes M: begins none after so long, of each
 * of the three, and tells what came of those that were begun.
 *
 *   drainMs             SIGTERM → exit; beyondPhaseMs: the part after its last phase had ended
 *   resumedElsewhereMs  a run's last phase on the pod that leaves (or the SIGTERM, if that came later)
 *                       → its next phase begins on another pod
 *   handoverMs          the last record of the old process → the first one of a run by the new process
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runIdMint, systemClock, systemRandom } from '../src/ground/index.ts';
import type { NewTask } from '../src/store/index.ts';
import { say } from './child.ts';
import { type Departure, handoverTimes, judge, type Left, repeatsIn } from './deploy-judge.ts';
import { DeployHouse, type DeployPod, sharedMs } from './deploy-pods.ts';
import { quantile } from './fleet.ts';
import { BenchDatabase } from './fleet-pods.ts';
import { until, VoidError, within } from './takeover-fleet.ts';

export interface DeploySizes {
  readonly drains: number;
  readonly pods: number;
  /** Of each kind: with a store, and without. */
  readonly handovers: number;
  /** For each of the three parts. */
  readonly minutes: number;
}

const SIZES: DeploySizes = { drains: 200, pods: 6, handovers: 50, minutes: 60 };
/** Tasks that are given out at most every so often, and never more than so many that have not ended. */
const FEED_EVERY_MS = 25;
const OPEN_MAX_PER_POD = 12;
const SLOTS = 16;
/** Runs in hand on the host that hands over. */
const KEEPS = 40;
const MS_MAX = 60_000;
const WANTED = { beyondPhaseMs: 2_000, resumedElsewhereMs: 1_000, handoverMs: 500 } as const;
const mint = runIdMint(systemClock, systemRandom);

export async function benchDeploys(sizes: DeploySizes = sizesWanted()): Promise<object> {
  const database = await within('a database', MS_MAX, BenchDatabase.start());
  try {
    const left = await drains(database, sizes);
    const withStore = await handovers('with a store', sizes, database.url);
    const alone = await handovers('without a store', sizes, undefined);
    const handover = [...withStore.times, ...alone.times];
    const repeated = left.repeated + withStore.repeated + alone.repeated;
    if (repeated > 0) process.exitCode = 1;
    return {
      drains: left.drainMs.length,
      pods: sizes.pods,
      handovers: withStore.count + alone.count,
      repeated,
      probed: left.probed,
      tasks: left.tasks,
      drainMs: quantiles(left.drainMs),
      beyondPhaseMs: quantiles(left.beyondPhaseMs),
      longestPhaseMs: left.longestPhaseMs,
      resumedElsewhereMs: { ...quantiles(left.resumedMs), runs: left.resumedMs.length },
      handoverMs: { ...quantiles(handover), runs: handover.length },
      handoverWithStoreMs: quantiles(withStore.times),
      handoverAloneMs: quantiles(alone.times),
      wantedP99Ms: WANTED,
    };
  } finally {
    await database.stop();
  }
}

function sizesWanted(): DeploySizes {
  const number = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      ...{ drains: number, pods: number, handovers: number, minutes: number },
      json: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const of = (name: keyof DeploySizes, min: number) => {
    const count = values[name] === undefined ? SIZES[name] : Number(values[name]);
    if (Number.isInteger(count) && count >= min) return count;
    throw new VoidError(`--${name} wants a whole number from ${min}, got ${values[name]}`);
  };
  const counts = { drains: of('drains', 1), pods: of('pods', 2), handovers: of('handovers', 1) };
  return { ...counts, minutes: of('minutes', 1) };
}

function quantiles(values: readonly number[]): { p50: number; p99: number; max: number } {
  const at = (q: number) => Math.round(quantile(values, q));
  return { p50: at(0.5), p99: at(0.99), max: Math.round(Math.max(...values)) };
}

async function drains(
  database: BenchDatabase,
  { drains, pods, minutes }: DeploySizes,
): Promise<Left> {
  const house = new DeployHouse(mkdtempSync(join(tmpdir(), 'fq-deploys-')));
  const options = { store: database.url, slots: SLOTS };
  const departures: Departure[] = [];
  const feed = new Feed(database, OPEN_MAX_PER_POD * pods);
  try {
    let number = 0;
    const startPod = async (): Promise<DeployPod> => {
      const pod = house.start(`disk-${++number}`, options);
      await pod.ready;
      return pod;
    };
    const up: DeployPod[] = [];
    while (up.length < pods) up.push(await startPod());
    feed.start();
    await sleep(2_000);
    const untilMs = sharedMs() + minutes * 60_000;
    for (let count = 1; count <= drains && sharedMs() < untilMs; count++) {
      // As a rolling deploy does it: the next one is there before one leaves.
      up.push(await startPod());
      const leaving = up.shift()!;
      const askedAt = sharedMs();
      leaving.child.kill('SIGTERM');
      const goneAt = await within(`the end of ${leaving.name}`, MS_MAX, leaving.gone);
      departures.push({ process: leaving.name, askedAt, goneAt });
      if (count % 10 === 0) say(`drain ${count} of ${drains}: ${Math.round(goneAt - askedAt)} ms`);
    }
    feed.stop();
    await until('every task has ended', MS_MAX, async () => (await database.openCount()) === 0);
    await checkEnds(database);
    for (const pod of up) pod.child.kill('SIGTERM');
    for (const pod of up) await within(`the end of ${pod.name}`, MS_MAX, pod.gone);
    return judge(house.phases(), departures, feed.count);
  } finally {
    feed.stop();
    await house.remove();
  }
}

async function checkEnds({ store }: BenchDatabase): Promise<void> {
  const failed = await store.list({ status: 'failed', countMax: 1 });
  if (failed.length > 0) throw new Error(`a task failed: ${JSON.stringify(failed[0])}`);
  const broken = await store.violations();
  if (broken.length > 0) throw new Error(`rules are broken: ${JSON.stringify(broken)}`);
}

/** A steady load that does not grow where the host is slow. */
class Feed {
  readonly #database: BenchDatabase;
  readonly #openMax: number;
  #isStopped = false;
  count = 0;

  constructor(database: BenchDatabase, openMax: number) {
    this.#database = database;
    this.#openMax = openMax;
  }

  start(): void {
    this.#feed().catch((error) => say(`nothing more is given out: ${error}`));
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #feed(): Promise<void> {
    const { store } = this.#database;
    while (!this.#isStopped) {
      const open = await store.list({ status: 'pending', countMax: this.#openMax });
      const room = this.#openMax - open.length;
      if (room > 0) await store.enqueue([newTask()]);
      this.count += room > 0 ? 1 : 0;
      await sleep(FEED_EVERY_MS);
    }
  }
}

function newTask(): NewTask {
  const of = { machine: 'bench-deploy', version: 1, queue: 'default', priority: 0, due: undefined };
  const rest = { key: undefined, keyMs: 0, retriesMax: undefined, traceParent: undefined };
  return { ...of, ...rest, id: mint(), payload: '{"n":1}', deadlineMs: 3_600_000 };
}

async function handovers(
  kind: string,
  sizes: DeploySizes,
  store: string | undefined,
): Promise<{
  readonly count: number;
  readonly times: readonly number[];
  readonly repeated: number;
}> {
  const untilMs = sharedMs() + sizes.minutes * 60_000;
  const house = new DeployHouse(mkdtempSync(join(tmpdir(), 'fq-deploys-')));
  const options = { ...(store ? { store } : {}), slots: 2 * KEEPS, keeps: KEEPS, handover: '60s' };
  const names: string[] = [];
  try {
    let old = house.start('disk', options);
    await old.ready;
    names.push(old.name);
    for (let number = 1; number <= sizes.handovers && sharedMs() < untilMs; number++) {
      await sleep(300 + systemRandom.fraction() * 700);
      const next = house.start('disk', options);
      await within(`the end of ${old.name}`, MS_MAX, old.gone);
      await next.ready;
      names.push(next.name);
      old = next;
      if (number % 10 === 0) say(`handover ${number} of ${sizes.handovers}, ${kind}`);
    }
    await sleep(500);
    old.child.kill('SIGTERM');
    await within(`the end of ${old.name}`, MS_MAX, old.gone);
    const phases = house.phases();
    const [times, repeated] = [handoverTimes(phases, names), repeatsIn(phases)];
    return { count: names.length - 1, times, repeated };
  } finally {
    await house.remove();
  }
}
