/** The part of docs/benchmarks.md on peers: a table, pictures, and where a peer is better. */
import { shown } from './report-figure.ts';
import type { Saved } from './saved.ts';
import { groupedBars } from './throttle/svg.ts';

interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}
type Peer = Readonly<Record<string, Readonly<Record<string, Spread>>>> | null;

const MEASURES = [
  ['pickup', 'p50', 'pickup p50, ms'],
  ['pickup', 'p99', 'pickup p99, ms'],
  ['pickup', 'afterBusyP50', 'p50 after a busy phase, ms'],
  ['pickup', 'afterBusyP99', 'p99 after a busy phase, ms'],
  ['trivial', 'perSecond', 'trivial jobs a second'],
  ['four', 'perSecond', 'lines of four durable steps a second'],
] as const;

function namesOf(saved: Saved): readonly (readonly [string, Peer])[] {
  return Object.entries(saved.figures['peers'] as Readonly<Record<string, Peer>>);
}

export function peersOf(saved: Saved): string {
  const peers = namesOf(saved);
  const missing = saved.figures['missing'] as Readonly<Record<string, string>>;
  const head = `| | ${MEASURES.map(([, , title]) => title).join(' | ')} |`;
  const body = peers.map(([name, of]) => {
    const cells = MEASURES.map(([measure, figure]) => {
      const value = of?.[measure]?.[figure];
      if (!value) return missing[`${name} ${measure}`] ?? '–';
      return `${shown(value.median)} (${shown(value.least)}–${shown(value.most)})`;
    });
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  return [
    '## Beside its peers',
    ABOUT,
    [head, `|${'---|'.repeat(MEASURES.length + 1)}`, ...body].join('\n'),
    `<sub>Medians of ${shown(saved.figures['rounds'])} rounds that take turns, with the least and the most. \`${saved.command}\`, ${saved.date}, ${saved.commit}, ${saved.machine}</sub>`,
    '![Time from enqueue until the job begins](images/bench-pickup.svg)\n![Jobs a second](images/bench-jobs.svg)',
    '**Where a peer is better.**',
    standings(peers),
    WHY,
  ].join('\n\n');
}

const ABOUT = `The same jobs, the same Postgres, every commit synced. *Pickup*: one job at a time, put in by another process, until its handler begins; in an idle worker, and half a second after
it has done 20,000.
*Trivial*: 20,000 jobs that do nothing, there before the worker starts. *Four durable steps*: 2,000 lines, each step recorded before the next
one starts; a peer that has no steps runs four jobs, each of which adds the next. Each peer is set up as its documents advise for speed:
\`graphile-worker-local\` has its local queue and batched completion, pg-boss takes batches of 200, one after the other while they are full, and has notifications, DBOS has a queue polled
every 50 ms and, for it does fewer a second, a tenth of the jobs, BullMQ a Redis that syncs its log at each command.`;

const WHY = `**Why.** graphile-worker with its local queue, pg-boss and BullMQ write one row or one Redis command for a *trivial* job, the first two for hundreds of
jobs in one statement, and keep nothing of what a job did. FleetQ writes a record to the pod's disk before and after each step of each run, and
the history of the run to the store. A lone job is *picked up* later, for a claim looks at queues, priorities, limits, serial keys and
sleepers, and the first record of the run is on disk before its handler begins. Of *four steps* each peer without steps makes four jobs;
in batches of 200, as pg-boss has them here, a crash repeats the steps of a batch, and of FleetQ at most the one that each run was in.`;

/** Who is better, as it was measured. */
function standings(peers: readonly (readonly [string, Peer])[]): string {
  const own = peers.find(([name]) => name === 'fleetq')?.[1];
  const lines = MEASURES.map(([measure, figure, title]) => {
    const ours = own?.[measure]?.[figure]?.median;
    const others = peers.flatMap(([name, of]) => {
      const median = of?.[measure]?.[figure]?.median;
      return name === 'fleetq' || ours === undefined || median === undefined
        ? []
        : [{ name, isBetter: figure === 'perSecond' ? median > ours : median < ours }];
    });
    const named = (isBetter: boolean) =>
      others
        .filter((other) => other.isBetter === isBetter)
        .map(({ name }) => name)
        .join(', ') || 'none';
    return `| ${title} | ${named(true)} | ${named(false)} |`;
  });
  return ['| | better than FleetQ | not better |', '|---|---|---|', ...lines].join('\n');
}

export function picturesOf(saved: Saved): Readonly<Record<string, string>> {
  const peers = namesOf(saved).filter(([, of]) => of !== null);
  // As short as the legend has room for.
  const names = peers.map(([name]) => name.replace('graphile-worker', 'graphile'));
  const of = (measure: string, figure: string) =>
    peers.map(([, peer]) => peer?.[measure]?.[figure]?.median ?? 0);
  return {
    'bench-pickup.svg': groupedBars({
      title: 'Time from enqueue until the job begins, ms',
      about: 'one job at a time, put in by another process; shorter is better',
      names,
      groups: [
        { name: 'p50', values: of('pickup', 'p50') },
        { name: 'p99', values: of('pickup', 'p99') },
      ],
    }),
    'bench-jobs.svg': groupedBars({
      title: 'Jobs a second, each bar as a share of the best of its kind',
      about: 'longer is better',
      names,
      groups: (['trivial', 'four'] as const).map((measure) => ({
        name: measure === 'trivial' ? 'trivial jobs' : 'four durable steps',
        values: of(measure, 'perSecond'),
      })),
      isShared: true,
    }),
  };
}
