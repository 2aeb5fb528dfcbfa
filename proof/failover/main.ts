/** Kills the primary of a Postgres with two standbys under load, again and again. */
import { readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { playFailovers, playLoss } from './failover.ts';

const HELP = `npm run proof -- failover [options]

A real Postgres primary with two streaming standbys and synchronous_standby_names = 'ANY 1 (…)' under real
pods. The primary is killed with SIGKILL under load, the standby that has most is promoted, and the old
primary comes back as a standby: nothing that was acknowledged may be missing at the end. Then the same with
an asynchronous standby that lags behind: pods must say what was lost. Ends with 1 otherwise. Wants dist:
npm run build.

  --kills N     kills of the primary (20)
  --pods N      pods (3)
  --rate N      tasks a second, over all pods (60)
  --seconds N   load before each kill (3)
  --json        figures as one JSON object, the last line of stdout
`;

const { values } = readFlags(
  {
    options: {
      kills: { type: 'string', default: '20' },
      pods: { type: 'string', default: '3' },
      rate: { type: 'string', default: '60' },
      seconds: { type: 'string', default: '3' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);
const load = {
  pods: wholeFlag('pods', values.pods, 1),
  rate: wholeFlag('rate', values.rate, 1),
  loadMs: wholeFlag('seconds', values.seconds, 1) * 1_000,
  secondsMax: 180,
};
const quorum = await playFailovers({ ...load, kills: wholeFlag('kills', values.kills, 1) });
process.stderr.write(`${JSON.stringify(quorum)}\n`);
const asynchronous = await playLoss(load);
const isGood = quorum.isGood && asynchronous.isGood;
tellFigures('failover', { quorum, asynchronous, isGood }, values);
process.exitCode = isGood ? 0 : 1;
