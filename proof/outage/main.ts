/** Takes Postgres away for minutes under load: nothing is lost, nothing happens twice. */
import { misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { playOutage } from './outage.ts';

const HELP = `npm run proof -- outage [options]

A real Postgres is stopped under real pods that enqueue and execute tasks. While it is away they start runs
of their own hosts. When it is back, every task and every run that was acknowledged must be in it, ended,
and done once; the pods' memory may not have grown. Ends with 1 otherwise. Wants dist: npm run build.

  --minutes N  how long Postgres is away (10)
  --seconds N  instead of minutes
  --starts N   runs started meanwhile, over all pods (1000)
  --pods N     pods (4)
  --rate N     tasks a second before and after, over all pods (100)
  --json       figures as one JSON object, the last line of stdout
`;

const { values } = readFlags(
  {
    options: {
      minutes: { type: 'string', default: '10' },
      seconds: { type: 'string' },
      starts: { type: 'string', default: '1000' },
      pods: { type: 'string', default: '4' },
      rate: { type: 'string', default: '100' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);
const pods = wholeFlag('pods', values.pods, 1);
const starts = wholeFlag('starts', values.starts);
if (starts % pods !== 0) misused(`--starts wants a multiple of the ${pods} pods, got ${starts}`);
const seconds =
  values.seconds === undefined
    ? wholeFlag('minutes', values.minutes, 1) * 60
    : wholeFlag('seconds', values.seconds, 1);
const report = await playOutage({
  outageMs: seconds * 1_000,
  starts,
  pods,
  rate: wholeFlag('rate', values.rate, 1),
  warmMs: 10_000,
  secondsMax: 300,
});
tellFigures('outage', report, values);
process.exitCode = report.isGood ? 0 : 1;
