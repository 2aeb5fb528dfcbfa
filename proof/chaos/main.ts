/**
 * Runs real pods on a real Postgres while everything fails that can fail, and checks the history by named rules.
 */
import { existsSync, readdirSync } from 'node:fs';
import { legFlag, misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { isGood, runChaos } from './chaos.ts';
import { PLANTS } from './plants.ts';
import { SIZES, type Size, type SizeName, shareOf } from './sizes.ts';

const HELP = `npm run proof -- chaos [flags]

Real pods in real processes on a real Postgres, while everything fails that can: kills, pauses, drains,
crashes of the store, bad networks, full disks, damaged journals, full slots, refused registrations,
cloned volumes, wrong clocks, poison, people. Then everything is healed,
and the history is held against the rules. Ends with 1 if one was broken, else with 2 if a dose was missed.

  --size ci|small|fleet|release   1,000, 10,000, 100,000 or 1,000,000 tasks; small unless said
  --size failover   2,000, on a primary with two standbys (ANY 1); the primary is lost five times
  --share I/N     the I-th of N equal legs of that size, each to be run and saved by itself
  --seed N        what the faults are drawn from; 1 unless said
  --tasks N       other than the size says
  --seconds N     how long faults go on, other than the size says
  --plant NAME    with a bug in the package: ${Object.keys(PLANTS).join(', ')}
  --keep DIR      keeps logs and ledgers there; broken.jsonl, all there is of broken tasks, is kept anyway
  --json          one JSON object as the last line
  --save          adds a leg to the results; not with --plant
`;

/** Legs of one seed are no copies of each other. */
const SEEDS_APART = 1_000;

const { values } = readFlags({
  options: {
    size: { type: 'string', default: 'small' },
    share: { type: 'string', default: '1/1' },
    tasks: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    plant: { type: 'string' },
    keep: { type: 'string' },
    json: { type: 'boolean' },
    save: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (!(values.size in SIZES)) {
  misused(`--size wants one of ${Object.keys(SIZES).join(', ')}, got ${values.size}`);
}
if (values.plant !== undefined && !(values.plant in PLANTS)) {
  misused(`--plant wants one of ${Object.keys(PLANTS).join(', ')}, got ${values.plant}`);
}
if (values.plant !== undefined && values.save) {
  misused('--save is for what was found without a planted bug');
}
// What an earlier run wrote there would be read as the evidence of this one.
if (values.keep !== undefined && existsSync(values.keep) && readdirSync(values.keep).length > 0) {
  misused(`--keep wants a directory with nothing in it, and ${values.keep} has something`);
}
const [leg, legs] = legFlag(values.share);
// An exit, and not a mere death, so that the server is taken along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const size: Size = shareOf(SIZES[values.size as SizeName], legs);
const report = await runChaos({
  ...size,
  tasks: values.tasks === undefined ? size.tasks : wholeFlag('tasks', values.tasks, 1),
  seconds: values.seconds === undefined ? size.seconds : wholeFlag('seconds', values.seconds, 1),
  seed: wholeFlag('seed', values.seed) + (leg - 1) * SEEDS_APART,
  plant: values.plant,
  keep: values.keep,
  onProgress: (line) => process.stderr.write(`${line}\n`),
});
tellFigures('chaos', report, values);
if (report.void) process.stderr.write(`void: ${report.missed.join(', ')}\n`);
process.exitCode = !isGood(report) ? 1 : report.void ? 2 : 0;
