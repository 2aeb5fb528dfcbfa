/**
 * Runs pods on an emulated Snowflake account while they are killed and answers are lost after the commit.
 */
import { misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { playSnowflake } from './play.ts';

const HELP = `npm run proof -- snowflake [options]

Real pods in real processes, by the real driver, on an emulated account that loses answers after the
commit, lets tokens expire, crowds locks and reads what is old, while the pods are killed. Then the history
is held against the rules. Ends with 1 where one was broken, or a task has not ended. Wants dist: npm run build.

  --mode hybrid|standard  which tables (hybrid)
  --tasks N    tasks (5000)
  --pods N     pods (6)
  --kills N    how often a pod is killed (24)
  --doubts N   of a thousand changes, how many are not answered (20)
  --seed N     what the faults are drawn from (1)
  --json       figures as one JSON object, the last line of stdout
`;

const { values } = readFlags(
  {
    options: {
      mode: { type: 'string', default: 'hybrid' },
      tasks: { type: 'string', default: '5000' },
      pods: { type: 'string', default: '6' },
      kills: { type: 'string', default: '24' },
      doubts: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);
const { mode } = values;
if (mode !== 'hybrid' && mode !== 'standard') {
  misused(`--mode wants hybrid or standard, got ${mode}`);
}
// An exit, and not a mere death, so that the server is taken along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const report = await playSnowflake({
  kind: mode,
  tasks: wholeFlag('tasks', values.tasks, 1),
  pods: wholeFlag('pods', values.pods, 1),
  kills: wholeFlag('kills', values.kills),
  doubtShare: wholeFlag('doubts', values.doubts) / 1_000,
  seed: wholeFlag('seed', values.seed),
  onProgress: (line) => process.stderr.write(`${line}\n`),
});
tellFigures('snowflake', report, values);
process.exitCode = report.isGood ? 0 : 1;
