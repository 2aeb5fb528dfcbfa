/** How each package manager installs for the first time, and how from the lock file that it has written. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromNpm } from '../from-npm.ts';
import type { Place } from './place.ts';

export interface Manager {
  /** What is run, as arguments of Node. */
  readonly program: string;
  /** Variables of its own. */
  readonly env: Readonly<Record<string, string>>;
  /** The names are of packages that come from the registry. */
  fresh(place: Place, names: readonly string[]): readonly string[];
  readonly locked: readonly string[];
  /** Removes what was installed, and leaves the lock file. */
  clear(place: Place): void;
}

const TARBALL = '../fleetq.tgz';

function clear({ project }: Place): void {
  for (const path of ['node_modules', '.pnp.cjs', '.pnp.loader.mjs', '.yarn/unplugged']) {
    rmSync(join(project, path), { recursive: true, force: true });
  }
}

export function npm(major: number): Manager {
  return {
    program: join(fromNpm(`npm@${major}`), 'bin/npm-cli.js'),
    env: {},
    fresh: (_, names) => ['install', '--no-audit', '--no-fund', TARBALL, ...names],
    locked: ['ci', '--no-audit', '--no-fund'],
    clear,
  };
}

export function pnpm(major: number): Manager {
  return {
    program: join(fromNpm(`pnpm@${major}`), 'bin/pnpm.cjs'),
    env: {},
    fresh: (_, names) => ['add', TARBALL, ...names],
    locked: ['install', '--frozen-lockfile'],
    clear,
  };
}

export function yarn(major: number, linker: 'node-modules' | 'pnp'): Manager {
  return {
    program: join(fromNpm(`@yarnpkg/cli-dist@${major}`), 'bin/yarn.js'),
    // Scripts may run, as older versions have it by default: there must be none that fails.
    env: { YARN_NODE_LINKER: linker, YARN_ENABLE_SCRIPTS: 'true', YARN_ENABLE_TELEMETRY: 'false' },
    fresh: ({ project }, names) => {
      // Without one of its own the project would belong to whatever is above it.
      writeFileSync(join(project, 'yarn.lock'), '');
      return ['add', `fleetq@file:${TARBALL}`, ...names];
    },
    locked: ['install', '--immutable'],
    clear,
  };
}
