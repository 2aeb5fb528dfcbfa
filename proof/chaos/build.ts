/**
 * The package that the pods run: built anew from the tree into a place of its own, so that nothing
 * changes under a run, and so that a bug can be planted in it. Few files, as users have it: a pod that
 * is started a hundred times loads hundreds of modules otherwise, each time.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { bundleOf } from '../../tools/build/bundle.ts';
import { PLANTS, type Plant } from './plants.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** What the programs of the tests load by its path, to strike there or to note what is said. */
const SEEN = [
  'fleet/watch',
  'ground/index',
  'journal/index',
  'store/postgres/claims',
  'store/postgres/recovery',
  'store/postgres/settler',
];

/** Answers where it is: the package's root. */
export async function buildPackage(plant: string | undefined): Promise<string> {
  const place = compilePackage(plant);
  const config = bundleOf(join(place, 'dist'), SEEN);
  await build({ ...config, root: ROOT, configFile: false, logLevel: 'warn' });
  return place;
}

/** The same with a file for every module. */
export function compilePackage(plant: string | undefined): string {
  const cache = join(ROOT, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(join(cache, 'fleetq-chaos-'));
  const dist = join(place, 'dist');
  copyFileSync(join(ROOT, 'package.json'), join(place, 'package.json'));
  symlinkSync(join(ROOT, 'migrations'), join(place, 'migrations'));
  compile('tsconfig.build.json', dist);
  compile('machines/tsconfig.json', join(dist, 'machines'));
  if (plant !== undefined) sow(dist, plant);
  return place;
}

function compile(config: string, out: string): void {
  const choices = ['--noCheck', '--declaration', 'false', '--sourceMap', 'false'];
  const inline = ['--inlineSources', 'false'];
  const arguments_ = [TSC, '-p', join(ROOT, config), '--outDir', out, ...choices, ...inline];
  execFileSync(process.execPath, arguments_, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (!existsSync(join(out, 'index.js'))) throw new Error(`nothing was compiled into ${out}`);
}

function sow(dist: string, name: string): void {
  const plant: Plant | undefined = PLANTS[name];
  if (!plant) {
    throw new Error(`there is no plant ${name}; there are ${Object.keys(PLANTS).join(', ')}`);
  }
  for (const [file, find, put] of plant.changes) {
    const path = join(dist, file);
    const text = readFileSync(path, 'utf8');
    // A plant that no longer finds its place would prove nothing.
    if (!text.includes(find))
      throw new Error(`the plant ${name} does not find its place in ${file}`);
    writeFileSync(path, text.replaceAll(find, put));
  }
}
