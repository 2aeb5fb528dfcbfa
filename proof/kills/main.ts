/** Kills one process at random moments, and compares its runs with an outside ledger. */
import { readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { type KillsReport, runKills } from './kills.ts';

const HELP = `npm run proof -- kills [options]

Runs a process over one journal, kills it with SIGKILL at random moments and starts it again, until all
runs have ended. What was lost, doubled or repeated is counted from a ledger outside, which fsyncs. Ends
with 1 if anything was lost or doubled, or more was repeated than the slots of each killed process.

  --runs N     runs in all (20000)
  --kills N    kills in all (300)
  --slots N    runs at a time (32)
  --seed N     what the moments are drawn from (1)
  --seconds N  gives up after so many (1800)
  --json       figures as one JSON object, the last line of stdout
  --save       adds the figures to docs/results/kills.json
`;

const { values } = readFlags(
  {
    options: {
      runs: { type: 'string', default: '20000' },
      kills: { type: 'string', default: '300' },
      slots: { type: 'string', default: '32' },
      seed: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '1800' },
      json: { type: 'boolean' },
      save: { type: 'boolean' },
    },
  },
  HELP,
);

const report = await runKills({
  runs: wholeFlag('runs', values.runs, 1),
  kills: wholeFlag('kills', values.kills),
  slots: wholeFlag('slots', values.slots, 1),
  seed: wholeFlag('seed', values.seed),
  secondsMax: wholeFlag('seconds', values.seconds, 1),
});
const doubled = report.work.doubled + report.persist.doubled;
tellFigures('kills', { ...report, doubled }, values);
process.exitCode = isGood(report) ? 0 : 1;

/** The window is one effect a slot and kill, be it of `work` or of `persist`. */
function isGood({ runs, acknowledged, kills, slots, work, persist, ...report }: KillsReport) {
  const isBounded =
    report.repeatedPerProcessMax <= slots && work.repeated + persist.repeated <= slots * kills;
  const isAll = acknowledged === runs && kills === Number(values.kills);
  const isClean = report.lost + report.invented + work.doubled + persist.doubled === 0;
  return isAll && isBounded && isClean;
}
