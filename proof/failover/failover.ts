/**
 * A primary and its standbys under real pods: the primary is killed under load, a standby is promoted, and
 * the old primary comes back as a standby; again and again. Every enqueue and every outcome that was
 * acknowledged to a pod is a line in a ledger outside, and has to be in the tables at the end.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/index.ts';
import { PostgresCluster } from '../../test/support/postgres-cluster.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { catchUp, doubledIn, standingOf } from '../outage/judge.ts';
import { until } from '../outage/outage.ts';
import { Pods } from '../outage/pods.ts';

export interface FailoverOptions {
  readonly kills: number;
  readonly pods: number;
  /** Tasks a second, over all pods. */
  readonly rate: number;
  /** Load before each kill. */
  readonly loadMs: number;
  readonly secondsMax: number;
}

export interface FailoverReport {
  readonly kills: number;
  readonly enqueued: number;
  readonly settled: number;
  readonly lost: number;
  readonly open: number;
  readonly doubled: number;
  readonly violations: number;
  /** What pods said to be lost, by the server that took over. */
  readonly toldLost: number;
  /** How long nobody could enqueue, at worst: from the kill until the next acknowledgement. */
  readonly pauseMsMax: number;
  readonly isGood: boolean;
}

const MS_MAX = 90_000;
const LOOK_MS = 100;

export async function playFailovers(options: FailoverOptions): Promise<FailoverReport> {
  return withPods({ standbys: 2, isQuorum: true }, options, async (cluster, pods, url) => {
    let pauseMsMax = 0;
    for (let kill = 0; kill < options.kills; kill += 1) {
      await sleep(options.loadMs);
      pauseMsMax = Math.max(pauseMsMax, await failOver(cluster, pods));
      await cluster.rejoin();
    }
    await sleep(options.loadMs);
    pods.order({ what: 'quiet' });
    const { lost, open } = await catchUp(
      () => cluster.primaryUrl('fleet'),
      pods,
      options.secondsMax,
    );
    const store = await openStore(url);
    const violations = (await store.violations()).length;
    await store.close();
    const toldLost = toldLostBy(pods);
    const counts = { lost: lost.length, open: open.length, violations, toldLost };
    const isGood = Object.values(counts).every((count) => count === 0);
    const enqueued = pods.idsOf('enqueued').length;
    const settled = pods.idsOf('settled').length;
    const doubled = doubledIn(pods).length;
    return { kills: options.kills, enqueued, settled, ...counts, doubled, pauseMsMax, isGood };
  });
}

/** Answers how long nothing was acknowledged. */
async function failOver(cluster: PostgresCluster, pods: Pods): Promise<number> {
  await cluster.killPrimary();
  const killedMs = performance.now();
  await cluster.promote();
  const before = pods.countOf('enqueued');
  await until(() => pods.countOf('enqueued') > before, MS_MAX, 'a task to be taken again');
  return Math.round(performance.now() - killedMs);
}

export interface LossReport {
  /** Acknowledged while the standby had nothing of it, and gone with the primary. */
  readonly lostEnqueues: number;
  /** What pods said to be lost. */
  readonly toldLost: number;
  /** Outcomes that were gone with the primary, and that pods have written again. */
  readonly writtenAgain: number;
  readonly open: number;
  readonly violations: number;
  readonly isGood: boolean;
}

/** A standby that lags behind without anybody waiting for it: what is lost is found, and said. */
export async function playLoss(options: Omit<FailoverOptions, 'kills'>): Promise<LossReport> {
  return withPods({ standbys: 1, isQuorum: false }, options, async (cluster, pods, url) => {
    await sleep(options.loadMs);
    await cluster.stopStandbys();
    await sleep(options.loadMs);
    await cluster.killPrimary();
    await cluster.startStandbys();
    const acknowledged = pods.idsOf('enqueued');
    await cluster.promote();
    const heard = () => pods.countOf('rewound') >= pods.size;
    await until(heard, MS_MAX, 'every pod to say what was lost');
    pods.order({ what: 'quiet' });
    const { missing } = await standingOf(cluster.primaryUrl('fleet'), acknowledged);
    const open = await openAfter(cluster, pods, options.secondsMax);
    const store = await openStore(url);
    const violations = (await store.violations()).length;
    await store.close();
    const told = pods.lines().filter(({ what }) => what === 'rewound');
    const writtenAgain = told.reduce((sum, line) => sum + (line.outcomesWritten ?? 0), 0);
    const enqueuesTold = told.reduce((sum, line) => sum + (line.enqueuesLost ?? 0), 0);
    // One whose acknowledgement was on its way when the primary died may be told, and not be in the ledger.
    const isTold = missing.length > 0 && enqueuesTold >= missing.length;
    const isGood = isTold && open.length === 0 && violations === 0;
    const counts = { lostEnqueues: missing.length, toldLost: enqueuesTold, writtenAgain };
    return { ...counts, open: open.length, violations, isGood };
  });
}

/** What is there comes to its end; what is lost does not. */
async function openAfter(cluster: PostgresCluster, pods: Pods, secondsMax: number) {
  const giveUpAt = performance.now() + secondsMax * 1_000;
  for (;;) {
    const { open } = await standingOf(cluster.primaryUrl('fleet'), pods.idsOf('enqueued'));
    if (open.length === 0 || performance.now() > giveUpAt) return open;
    await sleep(LOOK_MS);
  }
}

function toldLostBy(pods: Pods): number {
  return pods
    .lines()
    .reduce((sum, line) => sum + (line.enqueuesLost ?? 0) + (line.outcomesLost ?? 0), 0);
}

async function withPods<T>(
  of: { readonly standbys: number; readonly isQuorum: boolean },
  options: Pick<FailoverOptions, 'pods' | 'rate'>,
  play: (cluster: PostgresCluster, pods: Pods, url: string) => Promise<T>,
): Promise<T> {
  const place = mkdtempSync(join(tmpdir(), 'fleetq-failover-'));
  const cluster = await PostgresCluster.start(of);
  try {
    const url = await cluster.createDatabase('fleet');
    await (await openStore(url, { migrates: true })).close();
    const everyMs = (options.pods * 1_000) / options.rate;
    const pods = await Pods.start({ count: options.pods, store: url, place, everyMs });
    try {
      return await play(cluster, pods, url);
    } finally {
      await pods.end();
    }
  } finally {
    await cluster.remove();
    removeTree(place);
  }
}
