/** The cells of the matrix: who installs, and who runs what was installed. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { fromNpm } from '../from-npm.ts';
import { pack } from '../tarball.ts';
import { bundles } from './bundles.ts';
import { judge, unfit } from './judge.ts';
import { type Manager, npm, pnpm, yarn } from './managers.ts';
import { makePlace, type Place, run } from './place.ts';

export interface Cell {
  /** As `--cells` has it. */
  readonly name: string;
  /** The row and the column that show it. */
  readonly row: string;
  readonly column: string;
  /** A defect is planted, and has to be noticed. */
  readonly isPlanted?: boolean;
  /** Tries it in a directory of its own; says what was measured, throws where it does not work. */
  attempt(home: string, tarball: string): Promise<string>;
}

const INSTALL_MS_MAX = 600_000;
const NODES = [22, 24, 26];
const BIN = 'node_modules/fleetq/dist/bin.js';
const SYSTEM = `${process.platform}-${process.arch}`;

const nodeProgram = (major: number) => join(fromNpm(`node-${SYSTEM}@${major}`), 'bin/node');

async function install(
  place: Place,
  { program }: Manager,
  args: readonly string[],
): Promise<string> {
  const begunAt = performance.now();
  const ended = await run(place, [program, ...args], { timeoutMs: INSTALL_MS_MAX });
  if (ended.code !== 0) throw unfit(args[0]!, ended);
  return `${((performance.now() - begunAt) / 1000).toFixed(0)} s`;
}

/** Installed for the first time, and again from the lock file that this has written; each is judged. */
async function twice(place: Place, manager: Manager, judged: (place: Place) => Promise<void>) {
  const fresh = await install(place, manager, manager.fresh(place, ['zod']));
  await judged(place);
  manager.clear(place);
  const locked = await install(place, manager, manager.locked);
  await judged(place);
  return `${fresh}, ${locked}`;
}

function managed(name: string, row: string, manager: () => Manager): Cell[] {
  return NODES.map((major) => ({
    name: `${name}/${major}`,
    row,
    column: `Node ${major}`,
    attempt: (home, tarball) => {
      const made = manager();
      const place = makePlace(home, nodeProgram(major), tarball, made.env);
      return twice(place, made, (at) => judge(at, BIN, []));
    },
  }));
}

/** yarn says where the command is; Node reads packages through a loader. */
async function judgePlugged(place: Place, manager: Manager): Promise<void> {
  const found = await run(place, [manager.program, 'bin', 'fleetq'], { timeoutMs: INSTALL_MS_MAX });
  if (found.code !== 0) throw unfit('yarn bin', found);
  const loader = '--require ./.pnp.cjs --experimental-loader ./.pnp.loader.mjs --no-warnings';
  const env = { ...place.env, NODE_OPTIONS: loader };
  await judge({ ...place, env }, found.said.trim(), []);
}

/** npm installs, another runtime runs. */
function runtime(name: string, program: () => string, before: readonly string[]): Cell {
  return {
    name: name.toLowerCase(),
    row: `${name}, installed by npm 12`,
    column: 'alone',
    attempt: async (home, tarball) => {
      const place = makePlace(home, nodeProgram(24), tarball);
      const manager = npm(12);
      const took = await install(place, manager, manager.fresh(place, ['zod']));
      chmodSync(program(), 0o755);
      await judge({ ...place, runtime: program() }, BIN, before);
      return took;
    },
  };
}

function planted(name: string, row: string, range: string, base: Cell): Cell {
  return {
    ...base,
    name: `planted/${name}`,
    row,
    isPlanted: true,
    attempt: (home) => base.attempt(home, pack({ to: join(home, 'planted'), planted: range }).file),
  };
}

const NPM = [10, 11, 12].flatMap((major) =>
  managed(`npm-${major}`, `npm ${major}`, () => npm(major)),
);
const named = (name: string) => NPM.find((cell) => cell.name === name)!;

export const CELLS: readonly Cell[] = [
  ...NPM,
  ...managed('pnpm-10', 'pnpm 10', () => pnpm(10)),
  ...managed('pnpm-11', 'pnpm 11', () => pnpm(11)),
  ...managed('yarn-4', 'yarn 4, node-modules, scripts allowed', () => yarn(4, 'node-modules')),
  {
    name: 'pnp/24',
    row: "yarn 4, Plug'n'Play, scripts allowed",
    column: 'Node 24',
    attempt: (home, tarball) => {
      const manager = yarn(4, 'pnp');
      const place = makePlace(home, nodeProgram(24), tarball, manager.env);
      return twice(place, manager, (at) => judgePlugged(at, manager));
    },
  },
  ...bundles.map(({ name, row, attempt }) => ({
    name,
    row,
    column: 'Node 24',
    attempt: async (home: string, tarball: string) => {
      const place = makePlace(home, nodeProgram(24), tarball);
      const manager = npm(12);
      await install(place, manager, manager.fresh(place, ['zod']));
      return attempt(place);
    },
  })),
  runtime('Bun', () => join(fromNpm(`@oven/bun-${SYSTEM}@1.4`), 'bin/bun'), []),
  runtime('Deno', () => join(fromNpm(`@deno/${SYSTEM}-glibc@2.9`), 'deno'), ['run', '-A']),
  planted('plain-12', 'planted: better-sqlite3 12 as a dependency', '^12.11.1', named('npm-12/24')),
  planted('plain-13', 'planted: better-sqlite3 13 as a dependency', '^13.2.0', named('npm-10/22')),
];

/** What every change is tried with. */
export const CI = ['npm-12/24', 'npm-10/22', 'pnpm-10/22'];
