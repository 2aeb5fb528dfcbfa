/**
 * npm run bench -- NAME [--json]: measures, prints progress on stderr and one JSON object on the last
 * line of stdout. Figures are ratios against a raw limit taken in the same run: absolute ones move
 * from machine to machine.
 */
import { benchEngine, benchThreads } from './engine.ts';
import { benchFleet } from './fleet.ts';

const BENCHES: Record<string, () => Promise<object>> = {
  engine: benchEngine,
  threads: benchThreads,
  fleet: benchFleet,
};

const [name] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const bench = name === undefined ? undefined : BENCHES[name];
if (!bench) {
  process.stderr.write(
    `bench wants the name of a bench, got ${name ?? 'none'}; there are: ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(2);
}
const figures = await bench();
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(figures)}\n`);
else process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
