/** Runs serial keys and a limited queue on real processes that are killed. */
import { readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { runFlow } from './flow.ts';

const HELP = `npm run proof -- flow [options]

Enqueues tasks of many serial keys into a queue with a limit, on a Postgres of its own, runs them on pods
that are killed with SIGKILL at random moments, and reads from a ledger outside whether two of a key ran
at once, in which order, and whether all have ended. Ends with 1 where that is broken, or where more
were claimed at once than the limit allows. The pods are those of the built package: npm run build.

  --keys N     serial keys (100)
  --tasks N    tasks of each (200)
  --pods N     pods (4)
  --kills N    kills in all (40)
  --limit N    how many of the queue may be claimed at once (24)
  --work N     how long a task works, in ms (2)
  --seed N     what the pods to be killed are drawn from (1)
  --seconds N  gives up after so many (900)
  --json       figures as one JSON object, the last line of stdout
`;

const whole = (value: string) => ({ type: 'string', default: value }) as const;
const { values } = readFlags(
  {
    options: {
      keys: whole('100'),
      tasks: whole('200'),
      pods: whole('4'),
      kills: whole('40'),
      limit: whole('24'),
      work: whole('2'),
      seed: whole('1'),
      seconds: whole('900'),
      json: { type: 'boolean' },
    },
  },
  HELP,
);

const report = await runFlow({
  keys: wholeFlag('keys', values.keys, 1),
  tasks: wholeFlag('tasks', values.tasks, 1),
  pods: wholeFlag('pods', values.pods, 2),
  kills: wholeFlag('kills', values.kills),
  limit: wholeFlag('limit', values.limit, 1),
  workMs: wholeFlag('work', values.work),
  seed: wholeFlag('seed', values.seed),
  secondsMax: wholeFlag('seconds', values.seconds, 1),
});
tellFigures('flow', { ...report }, values);
const broken = report.together + report.outOfOrder + report.stuck;
process.exitCode = broken === 0 && report.claimedMax <= report.limit ? 0 : 1;
