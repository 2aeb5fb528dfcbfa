/** npm run chaos -- --size ci|small|fleet [--tasks N] [--seconds S] [--seed N] [--plant NAME] [--json] */
import { parseArgs } from 'node:util';
import { type ChaosReport, isGood, runChaos } from './chaos.ts';
import { SIZES, type SizeName } from './sizes.ts';

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: 'small' },
    tasks: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    plant: { type: 'string' },
    keep: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
if (!(values.size in SIZES)) {
  throw new TypeError(`--size must be one of ${Object.keys(SIZES).join(', ')}, got ${values.size}`);
}
// An exit, and not a mere death, so that the server is taken along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const size = SIZES[values.size as SizeName];

const report = await runChaos({
  ...size,
  tasks: Number(values.tasks ?? size.tasks),
  seconds: Number(values.seconds ?? size.seconds),
  seed: Number(values.seed),
  plant: values.plant,
  keep: values.keep,
  onProgress: (line) => console.error(line),
});
console.log(values.json ? JSON.stringify(report) : asText(report));
if (report.void) console.error(`void: a dose was not reached: ${report.missed.join(', ')}`);
process.exitCode = report.void ? 2 : isGood(report) ? 0 : 1;

function asText(report: ChaosReport): string {
  return Object.entries(report)
    .map(([name, value]) => {
      const text = typeof value === 'object' ? JSON.stringify(value, undefined, 1) : String(value);
      return `${name.padEnd(16)}${text}`;
    })
    .join('\n');
}
