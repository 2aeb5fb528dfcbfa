/**
 * fleetq sweep [--dry-run]: gives back to the fleet what dead pods left behind. Only a pod that has
 * been heard of for a while can tell who has fallen silent, so the leader is asked to, by its socket,
 * where it runs on this host. Otherwise the command does alone what needs no judgement: pods that are
 * fenced already, and claims whose owner is gone.
 */

import type { Config } from '../../config/index.ts';
import { outageOf } from '../../fleet/index.ts';
import { systemRandom } from '../../ground/index.ts';
import type { PodId, Store } from '../../store/index.ts';
import type { Execute } from '../command.ts';
import { Exit } from '../exit.ts';
import type { Output } from '../output.ts';
import { WAIT_MS } from '../socket-client.ts';
import type { Column } from '../table.ts';
import { leaderHere } from './local-pods.ts';
import { withStore } from './open.ts';
import { silenceOf } from './pods.ts';

interface Missing {
  readonly pod: string;
  readonly name: string;
  readonly why: 'silent' | 'dead' | 'gone';
  readonly wasWilling: boolean;
}
interface Swept {
  readonly pod: string;
  readonly why: string;
  readonly requeued: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly waitingForHost: number;
}
interface Report {
  readonly by: 'leader' | 'command';
  readonly swept: readonly Swept[];
  /** More than half of the fleet is missing: no crash was counted. */
  readonly isOutage: boolean;
  /** Silent pods that only a running pod may judge. */
  readonly left: readonly Missing[];
  /** Why the leader did nothing, in its words. */
  readonly reason?: string | undefined;
}

const BATCH_COUNT = 500;
const SPREAD_MS = 1_000;

export const sweep: Execute = async ({ config, output }, options) =>
  withStore(config, async (store) => {
    const { missing, isOutage } = await missingOf(store, config);
    if (options['dryRun'] === true) return tellMissing(missing, output);
    const report = (await byLeader(config)) ?? (await alone(store, missing, isOutage));
    if (output.isJson) output.json(report);
    else if (report.swept.length > 0) output.table(report.swept, SWEPT);
    if (report.swept.length === 0) output.note(report.reason ?? 'nothing to sweep');
    if (report.isOutage) {
      output.note('more than half of the fleet is missing: no crash was counted');
    }
    for (const { pod, name } of report.left) {
      output.note(
        `${pod} (${name}) is silent: left to the leader, which has to see that for itself`,
      );
    }
    return Exit.ok;
  });

async function missingOf(
  store: Store,
  config: Config,
): Promise<{ readonly missing: readonly Missing[]; readonly isOutage: boolean }> {
  const found = await store.worklist(silenceOf(store, config));
  const { silent, dead, ownerless } = found;
  const of = (why: Missing['why']) => (pod: (typeof silent)[number]) => ({
    pod: pod.pod,
    name: pod.name,
    why,
    wasWilling: pod.deadBy === pod.pod,
  });
  const missing = [
    ...silent.map(of('silent')),
    ...dead.map(of('dead')),
    ...ownerless.map((pod) => ({ pod, name: '', why: 'gone' as const, wasWilling: false })),
  ];
  return { missing, isOutage: outageOf(found, silent.length).isOutage };
}

function tellMissing(missing: readonly Missing[], output: Output) {
  if (output.isJson) output.json({ pods: missing });
  else if (missing.length > 0) output.table(missing, MISSING);
  output.note(missing.length === 0 ? 'nobody is missing' : 'nothing was changed');
  return missing.length === 0 ? Exit.nothingFound : Exit.ok;
}

/** A run of the leader's own sweep, as it would start it by itself. */
async function byLeader(config: Config): Promise<Report | undefined> {
  const found = await leaderHere(config.dataDir);
  if (!found) return undefined;
  const { client, pod } = found;
  try {
    const { id } = await client.start('recovery/sweep', { pod });
    const run = await client.ended(id, WAIT_MS);
    const { pods = [], isOutage = false } = Object(run.output) as Partial<{
      readonly pods: readonly Swept[];
      readonly isOutage: boolean;
    }>;
    return { by: 'leader', swept: pods, isOutage, left: [], reason: run.reason };
  } finally {
    client.close();
  }
}

async function alone(
  store: Store,
  missing: readonly Missing[],
  isOutage: boolean,
): Promise<Report> {
  const by = `command-${systemRandom.hex(8)}` as PodId;
  const swept: Swept[] = [];
  for (const each of missing.filter(({ why }) => why !== 'silent')) {
    // Where more than half are missing, their tasks are not to blame.
    const counts = await takeAll(store, each, by, !each.wasWilling && !isOutage);
    await store.retire(each.pod as PodId);
    swept.push({ pod: each.pod, why: each.why, ...counts });
  }
  const left = missing.filter(({ why }) => why === 'silent');
  return { by: 'command', swept, isOutage, left };
}

async function takeAll(
  store: Store,
  { pod }: Missing,
  by: PodId,
  countsCrash: boolean,
): Promise<Omit<Swept, 'pod' | 'why'>> {
  const counts = { requeued: 0, failed: 0, cancelled: 0, waitingForHost: 0 };
  const names = { failed: 'failed', cancelled: 'cancelled', waiting: 'waitingForHost' } as const;
  for (;;) {
    const taken = await store.take({
      from: pod as PodId,
      by,
      to: 'pool',
      countMax: BATCH_COUNT,
      crashed: countsCrash ? 'all' : 'none',
      spreadMs: SPREAD_MS,
    });
    if (taken.length === 0) return counts;
    for (const { status } of taken) {
      counts[names[status as keyof typeof names] ?? 'requeued'] += 1;
    }
  }
}

const MISSING: readonly Column<Missing>[] = [
  { head: 'POD', text: ({ pod }) => pod },
  { head: 'NAME', text: ({ name }) => name },
  { head: 'WHY', text: ({ why }) => why },
  { head: 'LEFT', text: ({ wasWilling }) => (wasWilling ? 'by its own word' : 'without a word') },
];
const SWEPT: readonly Column<Swept>[] = [
  { head: 'POD', text: ({ pod }) => pod },
  { head: 'WHY', text: ({ why }) => why },
  { head: 'REQUEUED', text: ({ requeued }) => `${requeued}`, align: 'right' },
  { head: 'FAILED', text: ({ failed }) => `${failed}`, align: 'right' },
  { head: 'CANCELLED', text: ({ cancelled }) => `${cancelled}`, align: 'right' },
  { head: 'FOR HOST', text: ({ waitingForHost }) => `${waitingForHost}`, align: 'right' },
];
