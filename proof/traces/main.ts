/** Kills pods while many runs are traced, and checks that every trace is whole. */
import { readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { runStorm } from './storm.ts';

const HELP = `npm run proof -- traces [options]

Runs tasks over several pods, kills the pods with SIGKILL, and has them come back. Their spans go to a
receiver in a process of its own, and are held against the histories in the store. Ends with 1 if a run
has not exactly one trace, a phase is missing or told in two ways, or a span is without its parent.

  --runs N     tasks in all (1000)
  --pods N     pods (3)
  --kills N    kills at most, while there is something to do (12)
  --seed N     what the moments are drawn from (1)
  --seconds N  gives up after so many (300)
  --json       figures as one JSON object, the last line of stdout
`;

const { values } = readFlags(
  {
    options: {
      runs: { type: 'string', default: '1000' },
      pods: { type: 'string', default: '3' },
      kills: { type: 'string', default: '12' },
      seed: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '300' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);

const report = await runStorm({
  runs: wholeFlag('runs', values.runs, 1),
  pods: wholeFlag('pods', values.pods, 1),
  kills: wholeFlag('kills', values.kills),
  seed: wholeFlag('seed', values.seed),
  secondsMax: wholeFlag('seconds', values.seconds, 1),
});
tellFigures('traces', report, values);
process.exitCode = report.wrong.length === 0 && report.runs === Number(values.runs) ? 0 : 1;
