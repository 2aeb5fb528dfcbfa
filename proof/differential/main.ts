/**
 * Makes the same random calls to the store of the simulation and to the real stores, and compares the answers.
 */
import { misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { RIVALS, type Rival, runDifferential } from './differential.ts';

const HELP = `npm run proof -- differential [options]

Asks the store in memory, SQLite and a real Postgres, in both ways of claiming, the same random things,
late and stale ones among them. All have to answer the same, and their rows have to be the same.

  --sequences N   how many sequences are played with each store; 200 unless told
  --seed S        which sequences; 1 unless told
  --stores LIST   which of ${RIVALS.join(', ')}; all unless told
  --json          one JSON object as the last line
  --save          keeps the figures in docs/results/differential.json
`;
const PROGRESS_EVERY = 50;

const { values } = readFlags({
  options: {
    sequences: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    stores: { type: 'string', default: RIVALS.join(',') },
    json: { type: 'boolean' },
    save: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

function storesOf(text: string): Rival[] {
  return text.split(',').map((name) => {
    if ((RIVALS as readonly string[]).includes(name)) return name as Rival;
    return misused(`--stores wants some of ${RIVALS.join(', ')}, got ${name}`);
  });
}

async function main(): Promise<void> {
  const sequences = wholeFlag('sequences', values.sequences, 1);
  const seed = wholeFlag('seed', values.seed, 0);
  const stores = storesOf(values.stores);
  const begun = performance.now();
  const asked: Record<string, number> = {};
  const played: Record<string, number> = {};
  let differences = 0;
  // One after another: a claim by compare-and-set is compared in another way than the others.
  for (const store of stores) {
    const report = await runDifferential({
      sequences,
      seed,
      rivals: [store],
      onProgress: (count) => {
        if (count % PROGRESS_EVERY === 0) process.stderr.write(`${store}: ${count} played\n`);
      },
    });
    played[store] = report.sequences;
    for (const [verb, count] of Object.entries(report.asked)) {
      asked[verb] = (asked[verb] ?? 0) + count;
    }
    if (!report.difference) continue;
    differences += 1;
    const { says, steps } = report.difference;
    process.stderr.write(`${says}\nsteps: ${JSON.stringify(steps)}\n`);
  }
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const figures = { seed, sequences: played, differences, asked, seconds };
  tellFigures('differential', figures, values);
  process.exitCode = differences > 0 ? 1 : 0;
}

if (values.help) process.stdout.write(HELP);
else await main();
