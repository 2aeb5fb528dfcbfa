/** What dist/ is made of: each part with its sources, and how it is made of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const DIST = join(ROOT, 'dist');

export interface Part {
  readonly name: string;
  /** Files and directories, from the root: when one of them changes, the part is made anew. */
  readonly sources: readonly string[];
  /** The part is there only if this file is. */
  readonly proof: string;
  /** The parts that this one is made after, and made anew with. */
  readonly after: readonly string[];
  make(): Promise<void>;
}

/** The versions of the compilers are in the lock file. */
const TOOLCHAIN = ['package-lock.json', 'tsconfig.json', 'tools/build'];

export const PARTS: readonly Part[] = [
  {
    name: 'library',
    sources: [...TOOLCHAIN, 'src', 'tsconfig.build.json'],
    proof: 'bin.js',
    after: [],
    make: makeLibrary,
  },
  {
    name: 'machines',
    sources: [...TOOLCHAIN, 'machines'],
    proof: 'machines/index.js',
    after: ['library'],
    make: makeMachines,
  },
  {
    name: 'admin-ui',
    sources: [...TOOLCHAIN, 'admin-ui', 'src/query', 'src/ground'],
    proof: 'admin-ui/index.html',
    after: [],
    make: () => node('vite/bin/vite.js', ['build', 'admin-ui', '--logLevel', 'warn']),
  },
];

/** Beside dist/, as deep as it: the places that source maps name are the same. */
const NEXT = join(ROOT, 'dist.next');

/** Made in a directory of its own: what runs on the files before misses them only for a moment. */
async function makeLibrary(): Promise<void> {
  rmSync(NEXT, { recursive: true, force: true });
  await compile('tsconfig.build.json', '--outDir', NEXT);
  // Loaded here, since to find that nothing is old must not wait for a bundler.
  const [{ build }, { bundleOf }] = await Promise.all([import('vite'), import('./bundle.ts')]);
  await build({ ...bundleOf(NEXT), root: ROOT, configFile: false, logLevel: 'warn' });
  mkdirSync(DIST, { recursive: true });
  const others = new Set(['.build', ...PARTS.slice(1).map(({ name }) => name)]);
  for (const entry of readdirSync(DIST)) {
    if (!others.has(entry)) rmSync(join(DIST, entry), { recursive: true });
  }
  for (const entry of readdirSync(NEXT)) renameSync(join(NEXT, entry), join(DIST, entry));
  rmSync(NEXT, { recursive: true });
}

async function makeMachines(): Promise<void> {
  rmSync(join(DIST, 'machines'), { recursive: true, force: true });
  await compile('machines/tsconfig.json');
}

function compile(config: string, ...flags: readonly string[]): Promise<void> {
  return node('typescript/bin/tsc', ['-p', config, ...flags]);
}

async function node(program: string, args: readonly string[]): Promise<void> {
  const path = join(ROOT, 'node_modules', program);
  if (!existsSync(path)) throw new Error(`${program} is not installed: npm ci`);
  // Not on stdout, which belongs to the program that the build is for.
  const child = spawn(process.execPath, [path, ...args], {
    cwd: ROOT,
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed`);
}
