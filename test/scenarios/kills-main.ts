/** npm run kills -- --runs 20000 --kills 300 [--slots 32] [--seed 1] [--json] [--save] */
import { readFlags, tellFigures, wholeFlag } from '../support/tool.ts';
import { type KillsReport, runKills } from './kills.ts';

const { values } = readFlags({
  options: {
    runs: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '300' },
    slots: { type: 'string', default: '32' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '1800' },
    json: { type: 'boolean' },
    save: { type: 'boolean' },
  },
});

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
