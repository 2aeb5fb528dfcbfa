/** The README's program through esbuild: with fleetq left outside it runs, merged it says why it does not. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromNpm } from '../from-npm.ts';
import { programsOfReadme, Unfit, unfit } from './judge.ts';
import { type Ended, type Place, run } from './place.ts';

interface Bundle {
  readonly name: string;
  readonly row: string;
  attempt(place: Place): Promise<string>;
}

const MS_MAX = 60_000;
const SENTENCE =
  /FleetQ does not find its own files, SQLite among them[\s\S]*name fleetq as external/;

async function bundled(place: Place, flags: readonly string[], out: string): Promise<Ended> {
  const { text } = programsOfReadme()[0]!;
  // CommonJS knows no await outside of a function.
  const wrapped = text.replace(
    /(const fleet = [\s\S]*)/,
    'async function main() {\n$1}\nmain();\n',
  );
  writeFileSync(join(place.project, 'note.mjs'), out.endsWith('.cjs') ? wrapped : text);
  const esbuild = join(fromNpm('esbuild@0.28'), 'bin/esbuild');
  const args = [esbuild, 'note.mjs', '--bundle', '--platform=node', `--outfile=${out}`, ...flags];
  const made = await run(place, args, { timeoutMs: MS_MAX });
  if (!existsSync(join(place.project, out))) throw unfit('esbuild', made);
  return run(place, [out], { timeoutMs: MS_MAX });
}

export const bundles: readonly Bundle[] = [
  {
    name: 'esbuild/external',
    row: 'esbuild, fleetq external',
    async attempt(place) {
      const ended = await bundled(place, ['--format=esm', '--external:fleetq'], 'out.mjs');
      if (ended.code !== 0) throw unfit('out.mjs', ended);
      return 'runs';
    },
  },
  {
    name: 'esbuild/merged',
    row: 'esbuild, fleetq merged',
    async attempt(place) {
      // As deep as FleetQ's own files, beside migrations of the app: neither may pass for FleetQ's.
      mkdirSync(join(place.project, 'migrations/journal'), { recursive: true });
      for (const [format, out] of [
        ['esm', 'out.mjs'],
        ['cjs', 'out.cjs'],
        ['esm', 'dist/server/out.mjs'],
        ['cjs', 'dist/server/out.cjs'],
      ] as const) {
        const ended = await bundled(place, [`--format=${format}`], out);
        if (ended.code === 0)
          throw new Unfit(`${out} runs: say so, and no longer that it does not`);
        if (!SENTENCE.test(ended.said)) throw unfit(out, ended);
      }
      return 'refused in a sentence';
    },
  },
];
