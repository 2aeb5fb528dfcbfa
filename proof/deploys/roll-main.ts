/** npm run proof -- deploys roll: tells what was asked wrongly, rolls, says what came of it. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeTree } from '../../test/support/remove-tree.ts';
import { misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { buildPackage } from '../chaos/build.ts';
import { runRoll } from './roll.ts';
import { isGood } from './roll-report.ts';

const HELP = `npm run proof -- deploys roll [flags]

Rolls a fleet of real processes on a real Postgres from one directory of machine code to another and back,
with runs in flight that continue, advance, are upgraded or have to wait. Then every run is held against
a ledger outside. Ends with 1 if a rule was broken, else with 2 if something never came up.

  --times N     there and back so often; 20 unless said
  --pods N      6 unless said
  --runs N      so many in flight at any time; 2000 unless said
  --seed N      what tasks are drawn from; 1 unless said
  --minutes M   after so many minutes it is not rolled there again, and the figures say how often it was
  --json        one JSON object as the last line
  --save        adds a leg to the results
`;

const { values } = readFlags({
  args: process.argv.slice(3),
  options: {
    times: { type: 'string', default: '20' },
    pods: { type: 'string', default: '6' },
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    json: { type: 'boolean' },
    save: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const [pods, times] = [wholeFlag('pods', values.pods, 1), wholeFlag('times', values.times, 1)];
if (pods < 2) misused('--pods wants 2 or more: both codes have to be there in the end');

// A copy of its own, so that nothing changes under the fleet.
const place = await buildPackage(undefined);
const here = fileURLToPath(new URL('.', import.meta.url));
for (const name of ['book.mjs', 'code-v1', 'code-v2']) {
  cpSync(join(here, name), join(place, 'deploys', name), { recursive: true });
}
try {
  const figures = await runRoll({
    dist: join(place, 'dist'),
    codes: join(place, 'deploys'),
    pods,
    times,
    inFlight: wholeFlag('runs', values.runs, 1),
    slots: 64,
    restMsMax: 30_000,
    seed: wholeFlag('seed', values.seed),
    minutesMax: values.minutes === undefined ? undefined : wholeFlag('minutes', values.minutes, 1),
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  tellFigures('deploys', figures, values);
  process.exitCode = !isGood(figures) ? 1 : figures.missed.length > 0 ? 2 : 0;
} finally {
  removeTree(place);
}
