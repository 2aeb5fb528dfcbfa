/**
 * Postgres goes away under load, for as long as is asked for, while pods start runs of their own; then it
 * comes back, and everything that was acknowledged has to be there, once.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/index.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { catchUp, doubledIn } from './judge.ts';
import { Pods } from './pods.ts';

export interface OutageOptions {
  readonly outageMs: number;
  /** Runs that are started without the store, over all pods. */
  readonly starts: number;
  readonly pods: number;
  /** Tasks a second before and after, over all pods. */
  readonly rate: number;
  /** Load before the outage. */
  readonly warmMs: number;
  readonly secondsMax: number;
}

export interface OutageReport {
  readonly outageMs: number;
  readonly enqueued: number;
  readonly local: number;
  readonly lost: number;
  readonly open: number;
  readonly doubled: number;
  readonly violations: number;
  /** Until everything that was acknowledged had ended, from when Postgres was started again. */
  readonly catchUpMs: number;
  /** The longest that a pod said to have been alone. */
  readonly aloneMs: number;
  /** MiB of the largest pod: before, in the middle and at the end of the outage. */
  readonly rss: { readonly start: number; readonly middle: number; readonly end: number };
  readonly isGood: boolean;
}

const READ_MS_MAX = 20_000;
const LOOK_MS = 50;
/** What a process may grow by: its caches and its compiled code, not what waits. */
const GROWTH_MIB_MAX = 40;

export async function playOutage(options: OutageOptions): Promise<OutageReport> {
  const place = mkdtempSync(join(tmpdir(), 'fleetq-outage-'));
  const postgres = await startPostgres();
  try {
    const url = await postgres.createDatabase();
    const store = await openStore(url, { migrates: true });
    const everyMs = (options.pods * 1_000) / options.rate;
    const pods = await Pods.start({ count: options.pods, store: url, place, everyMs });
    try {
      await sleep(options.warmMs);
      await sample(pods, 'start');
      await postgres.crash('fast');
      await away(pods, options);
      await postgres.start();
      const { ms, lost, open } = await catchUpQuietly(url, pods, options);
      const violations = (await store.violations()).length;
      const doubled = doubledIn(pods).length;
      const of = { outageMs: options.outageMs, enqueued: pods.idsOf('enqueued').length };
      const figures = { lost: lost.length, open: open.length, doubled, violations };
      const local = pods.idsOf('local').length;
      const rss = { start: rssOf(pods, 'start'), ...{ middle: rssOf(pods, 'middle') } };
      const told = { ...of, local, ...figures, catchUpMs: ms, aloneMs: aloneMsOf(pods) };
      const grown = Math.max(rssOf(pods, 'end'), rss.middle) - rss.start;
      const isGood =
        Object.values(figures).every((count) => count === 0) &&
        local === options.starts &&
        grown < GROWTH_MIB_MAX;
      return { ...told, rss: { ...rss, end: rssOf(pods, 'end') }, isGood };
    } finally {
      await pods.end();
      await store.close();
    }
  } finally {
    await postgres.remove();
    removeTree(place);
  }
}

/** The outage itself. Runs are started over most of it, and all of them before it ends. */
async function away(pods: Pods, { outageMs, starts, pods: count }: OutageOptions): Promise<void> {
  const untilMs = performance.now() + outageMs;
  const each = Math.floor(starts / count);
  pods.order({ what: 'start', count: each, inMs: outageMs * 0.7 });
  await sleep(outageMs / 2);
  await sample(pods, 'middle');
  await until(() => pods.countOf('started') === count, outageMs + READ_MS_MAX, 'local starts');
  await sleep(Math.max(0, untilMs - performance.now()));
  await sample(pods, 'end');
}

/** No more load after a while: what is acknowledged must come to an end. */
async function catchUpQuietly(url: string, pods: Pods, { secondsMax }: OutageOptions) {
  const before = pods.countOf('enqueued');
  const begunMs = performance.now();
  await until(
    () => pods.countOf('enqueued') > before,
    secondsMax * 1_000,
    'tasks to be taken again',
  );
  pods.order({ what: 'quiet' });
  const answer = await catchUp(() => url, pods, secondsMax);
  return { ...answer, ms: Math.round(performance.now() - begunMs) };
}

async function sample(pods: Pods, at: string): Promise<void> {
  const before = pods.countOf('rss');
  pods.order({ what: 'rss', at });
  await until(() => pods.countOf('rss') >= before + pods.size, READ_MS_MAX, 'memory to be told');
}

function rssOf(pods: Pods, at: string): number {
  const sizes = pods.lines().flatMap((line) => (line.at === at ? [line.bytes ?? 0] : []));
  return Math.round(Math.max(0, ...sizes) / 1024 / 1024);
}

function aloneMsOf(pods: Pods): number {
  return Math.round(Math.max(0, ...pods.lines().map(({ aloneMs }) => aloneMs ?? 0)));
}

export async function until(isSo: () => boolean, msMax: number, what: string): Promise<void> {
  const giveUpAt = performance.now() + msMax;
  while (!isSo()) {
    if (performance.now() > giveUpAt) throw new Error(`waited in vain for ${what}`);
    await sleep(LOOK_MS);
  }
}
