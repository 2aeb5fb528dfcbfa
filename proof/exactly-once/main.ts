/** Counts the rows that `persist` adds by `tx` under kills, pauses and lost commits. */
import { join } from 'node:path';
import { removeTree } from '../../test/support/remove-tree.ts';
import { misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { buildPackage } from '../chaos/build.ts';
import { type PlayReport, playExactlyOnce } from './play.ts';

const HELP = `npm run proof -- exactly-once [options]

Runs that add a row each to a table of their author's, in the transaction that persistIn: 'store' gives
them: half of them by their end, half in the middle. Their pods are killed with SIGKILL, from outside and
inside persist; stopped with SIGSTOP past their deadlines; and, on Postgres, lose the answers to commits,
lose commits, or have them delivered late. Ends with 1 unless there is exactly one row for each run.

  --runs N     runs in all (20000)
  --store NAME postgres, sqlite or both (both)
  --pods N     pods at a time (3)
  --kills N    kills from outside (12)
  --inside N   runs that kill their own process in persist (30)
  --stops N    pauses past the deadline (6)
  --seed N     which way they come (1)
  --seconds N  gives up on a store where none has ended for so many (300)
  --json       figures as one JSON object, the last line of stdout
`;

const { values } = readFlags(
  {
    options: {
      runs: { type: 'string', default: '20000' },
      store: { type: 'string', default: 'both' },
      pods: { type: 'string', default: '3' },
      kills: { type: 'string', default: '12' },
      inside: { type: 'string', default: '30' },
      stops: { type: 'string', default: '6' },
      seed: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '300' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);

const STORES = {
  both: ['postgres', 'sqlite'],
  postgres: ['postgres'],
  sqlite: ['sqlite'],
} as const;
const stores =
  STORES[values.store as keyof typeof STORES] ??
  misused(`--store wants postgres, sqlite or both, got ${values.store}`);

const place = await buildPackage(undefined);
try {
  const runs = wholeFlag('runs', values.runs, 1);
  const inside = wholeFlag('inside', values.inside);
  const reports: PlayReport[] = [];
  for (const store of stores) {
    const report = await playExactlyOnce({
      dist: join(place, 'dist'),
      store,
      runs,
      pods: wholeFlag('pods', values.pods, 1),
      kills: wholeFlag('kills', values.kills),
      stops: wholeFlag('stops', values.stops),
      killEvery: inside === 0 ? 0 : Math.max(7, Math.floor(runs / inside)),
      faultShare: 0.01,
      seed: wholeFlag('seed', values.seed),
      secondsMax: wholeFlag('seconds', values.seconds, 1),
    });
    process.stderr.write(`${JSON.stringify(report)}\n`);
    reports.push(report);
  }
  const isGood = reports.every((report) => report.isGood);
  const figures = Object.fromEntries(reports.map((report) => [report.store, report]));
  tellFigures('exactly-once', { ...figures, isGood }, values);
  process.exitCode = isGood ? 0 : 1;
} finally {
  removeTree(place);
}
