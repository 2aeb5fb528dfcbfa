/**
 * Runs that add a row each to a table of their author's, while the pods that execute them are killed,
 * stopped past their deadlines, and lose the answers to their commits. Then the rows are counted: one for
 * each run, and none twice.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { below, seededRandom } from '../../test/support/seeded-random.ts';
import { type Place, postgresPlace, sqlitePlace } from './places.ts';
import { Pods } from './pods.ts';

const SLOTS = 16;
const BATCH = 1_000;
const LOOK_MS = 100;
/** Longer than the silence of a pod: whoever is stopped for so long has lost its claims. */
const STOP_MS = 3_000;

export interface PlayOptions {
  readonly dist: string;
  readonly store: 'postgres' | 'sqlite';
  readonly runs: number;
  readonly pods: number;
  readonly kills: number;
  readonly stops: number;
  /** One run in so many kills its process in its persist; none where it is 0. */
  readonly killEvery: number;
  /** Of all commits, how many go wrong on their way. */
  readonly faultShare: number;
  readonly seed: number;
  /** How long no run may end before it is given up: a slow machine is not stuck. */
  readonly secondsMax: number;
}

export interface PlayReport {
  readonly store: string;
  readonly runs: number;
  readonly completed: number;
  readonly rows: number;
  /** Runs with a row, with more than one, and rows of no run that is completed. */
  readonly booked: number;
  readonly twice: number;
  readonly stray: number;
  readonly violations: number;
  /** Of those that failed, what they say, each once. */
  readonly failures: readonly string[];
  readonly deaths: number;
  readonly stops: number;
  readonly doubts: Place['doubts'];
  /** How often runs were claimed beyond the first time. */
  readonly reclaims: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly isGood: boolean;
}

export async function playExactlyOnce(options: PlayOptions): Promise<PlayReport> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-once-'));
  const random = seededRandom(options.seed);
  const place =
    options.store === 'postgres'
      ? await postgresPlace(random, options.faultShare)
      : await sqlitePlace(directory);
  const { dist, killEvery } = options;
  const orders = { dist, killEvery, store: place.podUrl, insert: place.insert, slots: SLOTS };
  const pods = new Pods(orders, directory);
  const store = await openStore(place.url);
  try {
    return await play(options, place, pods, store);
  } finally {
    await pods.end();
    await store.close();
    await place.close();
    removeTree(directory);
  }
}

async function play(
  options: PlayOptions,
  place: Place,
  pods: Pods,
  store: Store,
): Promise<PlayReport> {
  await enqueueAll(store, options.runs);
  const begunMs = systemClock.monotonicMs();
  for (let number = 0; number < options.pods; number += 1) pods.start(number);
  const stops = await trouble(options, place, pods);
  const seconds = Math.round((systemClock.monotonicMs() - begunMs) / 100) / 10;
  const perSecond = Math.round(options.runs / seconds);
  return {
    ...(await judge(options, place, store)),
    deaths: pods.deaths,
    stops,
    seconds,
    perSecond,
  };
}

async function enqueueAll(store: Store, runs: number): Promise<void> {
  const mint = runIdMint(systemClock, systemRandom);
  const rest = { version: 1, queue: 'default', priority: 0, due: undefined, keyMs: 0 };
  const none = { key: undefined, retriesMax: undefined, deadlineMs: undefined };
  for (let from = 0; from < runs; from += BATCH) {
    const tasks = Array.from({ length: Math.min(BATCH, runs - from) }, (_, index) => ({
      ...rest,
      ...none,
      id: mint(),
      machine: (from + index) % 2 === 0 ? 'ends' : 'goes-on',
      payload: JSON.stringify({ n: from + index + 1 }),
      traceParent: undefined,
    }));
    await store.enqueue(tasks);
  }
}

/** Resolves when all runs have ended. Answers how often a pod was stopped. */
async function trouble(options: PlayOptions, place: Place, pods: Pods): Promise<number> {
  const { runs, kills, secondsMax } = options;
  const random = seededRandom(options.seed + 1);
  let [killed, stopped] = [0, 0];
  let [least, leastMs] = [runs, systemClock.monotonicMs()];
  for (;;) {
    const left = await place.count(
      `select count(*) as count from step_tracker
        where finished_at is null and machine in ('ends', 'goes-on')`,
    );
    if (left === 0) return stopped;
    const nowMs = systemClock.monotonicMs();
    if (left < least) [least, leastMs] = [left, nowMs];
    if (nowMs - leastMs > secondsMax * 1_000) {
      const open = await place.open();
      throw new Error(
        `${left} of ${runs} runs are open, and none has ended for ${secondsMax} s: ${open}; ${pods.trouble}`,
      );
    }
    const share = (runs - left) / runs;
    const number = below(random, options.pods);
    if (share * (kills + 1) > killed + 1 && killed < kills) {
      killed += 1;
      pods.kill(number);
    } else if (share * (options.stops + 1) > stopped + 1 && stopped < options.stops) {
      stopped += 1;
      const goOn = pods.stop(number);
      await sleep(STOP_MS);
      goOn();
    }
    await sleep(LOOK_MS);
  }
}

async function judge(
  { runs, store: kind }: PlayOptions,
  { count, doubts }: Place,
  store: Store,
): Promise<Omit<PlayReport, 'deaths' | 'stops' | 'seconds' | 'perSecond'>> {
  const of = (what: string) => count(`select ${what}`);
  const ours = `machine in ('ends', 'goes-on')`;
  const completed = await of(
    `count(*) as count from step_tracker where status = 'completed' and ${ours}`,
  );
  const rows = await of('count(*) as count from ledger');
  const booked = await of('count(distinct run) as count from ledger');
  const twice = await of(
    'count(*) as count from (select run from ledger group by run having count(*) > 1) often',
  );
  const stray = await of(
    `count(*) as count from ledger where run not in
       (select task_id from step_tracker where status = 'completed')`,
  );
  const reclaims = (await of(`sum(claims) as count from step_tracker where ${ours}`)) - runs;
  const violations = (await store.violations()).length;
  const dead = await store.list({ isDeadLetter: true, countMax: 100 });
  const failures = [...new Set(dead.map(({ outcome, error }) => `${outcome}: ${error}`))];
  const isGood =
    [completed, rows, booked].every((found) => found === runs) && twice + stray + violations === 0;
  return {
    ...{ store: kind, runs, completed, rows, booked, twice, stray, violations },
    failures,
    ...{ doubts, reclaims, isGood },
  };
}
