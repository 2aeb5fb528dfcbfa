/**
 * npm run bench -- NAME [--json] [--full] [--save]: measures, prints progress on stderr and one JSON object on
 * the last line of stdout. `report` measures nothing: it writes docs/benchmarks.md from what was saved. Figures are ratios against a raw limit taken in the same run: absolute ones move
 * from machine to machine. Where nothing could be measured the object says why, and the exit code is 1.
 */
import { benchAdmin } from './admin.ts';
import { benchCodec } from './codec.ts';
import { benchDeploys } from './deploys.ts';
import { benchEngine, benchResume, benchThreads } from './engine.ts';
import { benchFleet } from './fleet.ts';
import { benchFlow } from './flow.ts';
import { benchGrowth } from './growth.ts';
import { benchPeers } from './peers.ts';
import { writeReport } from './report.ts';
import { saveBench } from './saved.ts';
import { benchTakeover } from './takeover.ts';
import { VoidError } from './takeover-fleet.ts';
import { benchTelemetry } from './telemetry.ts';
import { benchThrottle } from './throttle.ts';
import { benchUi } from './ui.ts';

/** What was said behind it. */
function wordOf(option: string): string | undefined {
  return process.argv.find((word) => word.startsWith(option))?.slice(option.length);
}

const [name, of] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

const BENCHES: Record<string, () => Promise<object>> = {
  engine: benchEngine,
  resume: benchResume,
  threads: benchThreads,
  fleet: benchFleet,
  flow: benchFlow,
  growth: () => benchGrowth(of),
  report: async () => writeReport(),
  peers: () => benchPeers(of),
  takeover: benchTakeover,
  telemetry: benchTelemetry,
  codec: benchCodec,
  deploys: () => benchDeploys(),
  admin: () => benchAdmin(),
  throttle: () => benchThrottle(undefined, wordOf('--plots=')),
  ui: () => benchUi(),
};

const bench = name === undefined ? undefined : BENCHES[name];
if (!bench) {
  process.stderr.write(
    `bench wants the name of a bench, got ${name ?? 'none'}; there are: ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(2);
}
const isSaved = process.argv.includes('--save');
if (isSaved && !['peers', 'growth'].includes(name ?? '')) {
  process.stderr.write(
    'bench: --save is for peers and growth, which docs/benchmarks.md is written from\n',
  );
  process.exit(2);
}
const figures = await bench().catch((error: unknown) => {
  if (!(error instanceof VoidError)) throw error;
  process.exitCode = 1;
  return { void: error.message };
});
if (isSaved && process.exitCode === undefined) {
  const words = process.argv.slice(2).filter((word) => word !== '--save' && word !== '--json');
  saveBench(of ?? name!, `npm run bench -- ${words.join(' ')}`, figures);
}
const text = process.argv.includes('--json')
  ? JSON.stringify(figures)
  : JSON.stringify(figures, null, 2);
// Whatever a bench that gave up has left behind must not keep this process.
process.stdout.write(`${text}\n`, () => process.exit());
