/** npm run kills -- --runs 20000 --kills 300 [--slots 32] [--seed 1] [--json] */
import { parseArgs } from 'node:util';
import { type KillsReport, runKills } from './kills.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '300' },
    slots: { type: 'string', default: '32' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '1800' },
    json: { type: 'boolean', default: false },
  },
});

const report = await runKills({
  runs: Number(values.runs),
  kills: Number(values.kills),
  slots: Number(values.slots),
  seed: Number(values.seed),
  secondsMax: Number(values.seconds),
});
console.log(values.json ? JSON.stringify(report) : asText(report));
process.exitCode = isGood(report) ? 0 : 1;

/** The window is one effect a slot and kill, be it of `work` or of `persist`. */
function isGood({ runs, acknowledged, kills, slots, work, persist, ...report }: KillsReport) {
  const isBounded =
    report.repeatedPerProcessMax <= slots && work.repeated + persist.repeated <= slots * kills;
  const isAll = acknowledged === runs && kills === Number(values.kills);
  const isClean = report.lost + report.invented + work.doubled + persist.doubled === 0;
  return isAll && isBounded && isClean;
}

function asText(report: KillsReport): string {
  return Object.entries(report)
    .map(
      ([name, value]) =>
        `${name.padEnd(24)}${typeof value === 'object' ? JSON.stringify(value) : value}`,
    )
    .join('\n');
}
