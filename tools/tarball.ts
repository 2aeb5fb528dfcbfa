/**
 * The package as users install it, made in a copy, so that the tree stays as it is. SQLite's driver is in
 * dist/vendor/, and no dependency. As a dependency it would be compiled wherever npm 10 or 11 installs from a
 * lock file, and by yarn where scripts may run, which fails without a compiler: its `binding.gyp` counts as
 * an install script. Bundled, it would be so by yarn, which installs what is bundled anew.
 *
 *   the tree ──▶ copy: dist/, migrations/, pages to read ─────────────────▶ fleetq-0.1.0.tgz
 *                 └── dist/vendor/better-sqlite3: lib/ and prebuilds/ ────┘
 *                     lib/index.d.ts of @types/better-sqlite3: a compiler finds the types there
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOT } from './build/parts.ts';

/** It needs nothing else to run; what it depends on, a compiler reads. */
const VENDORED = 'better-sqlite3';
const VENDORED_FILES = ['package.json', 'LICENSE', 'lib', 'prebuilds'];

export interface Packed {
  readonly file: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
  /** Paths inside the package. */
  readonly files: readonly string[];
}

export interface PackOptions {
  /** Where the file is written. */
  readonly to: string;
  /** The driver as an ordinary dependency, in this range: what the install matrix has to notice. */
  readonly planted?: string | undefined;
}

export function pack({ to, planted }: PackOptions): Packed {
  const copy = mkdtempSync(join(tmpdir(), 'fleetq-pack-'));
  try {
    const manifest = readJson(join(ROOT, 'package.json'));
    for (const path of manifest.files as string[]) {
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    }
    rmSync(join(copy, 'dist/.build'), { recursive: true, force: true });
    const {
      devDependencies,
      scripts,
      overrides,
      private: _,
      dependencies,
      ...published
    } = manifest;
    const { [VENDORED]: _range, ...needed } = dependencies as Record<string, string>;
    if (planted === undefined) copyDriver(join(copy, 'dist'));
    else needed[VENDORED] = planted;
    writeJson(join(copy, 'package.json'), { ...published, dependencies: needed });
    return npmPack(copy, to);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function copyDriver(dist: string): void {
  const [from, to] = [join(ROOT, 'node_modules', VENDORED), join(dist, 'vendor', VENDORED)];
  for (const path of VENDORED_FILES) cpSync(join(from, path), join(to, path), { recursive: true });
  const types = join(ROOT, 'node_modules/@types', VENDORED);
  cpSync(join(types, 'index.d.ts'), join(to, 'lib/index.d.ts'));
  cpSync(join(types, 'LICENSE'), join(to, 'lib/LICENSE-types'));
  const door = join(dist, 'ground/sqlite.d.ts');
  const named = readFileSync(door, 'utf8').replace(
    `'${VENDORED}'`,
    `'../vendor/${VENDORED}/lib/index.js'`,
  );
  writeFileSync(door, named);
}

function npmPack(directory: string, to: string): Packed {
  mkdirSync(to, { recursive: true });
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', resolve(to)];
  const said = execFileSync('npm', args, {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // npm 12 answers an object of packages by their names, older ones a list.
  const [found] = Object.values(JSON.parse(said)) as [NpmPacked];
  return {
    file: join(resolve(to), found.filename),
    bytes: found.size,
    unpackedBytes: found.unpackedSize,
    files: found.files.map(({ path }) => path),
  };
}

interface NpmPacked {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

function readJson(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
