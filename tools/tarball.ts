/**
 * The package as users install it, made in a copy, so that the tree stays as it is. SQLite's driver is in
 * it. As a dependency it would be compiled anew wherever npm 10 or 11 installs from a lock file,
 * which fails without a compiler: npm takes its `binding.gyp` for an install script. Here that file is gone,
 * with all that only a compiler reads, and what is left has binaries for every platform.
 *
 *   the tree ──▶ copy: dist/, migrations/, pages to read ──────────────────────────▶ fleetq-0.1.0.tgz
 *                 └── node_modules/better-sqlite3: lib/, prebuilds/, no binding.gyp ──┘
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOT } from './build/parts.ts';

/** Inside the package, and whatever it depends on: nothing, once nobody compiles it. */
const BUNDLED = 'better-sqlite3';
const BUNDLED_FILES = ['package.json', 'LICENSE', 'README.md', 'lib', 'prebuilds'];

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
  /** The driver as an ordinary dependency: what the install matrix has to notice. */
  readonly isUnbundled?: boolean;
}

export function pack({ to, isUnbundled = false }: PackOptions): Packed {
  const copy = mkdtempSync(join(tmpdir(), 'fleetq-pack-'));
  try {
    const manifest = readJson(join(ROOT, 'package.json'));
    for (const path of manifest.files as string[]) {
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    }
    rmSync(join(copy, 'dist/.build'), { recursive: true, force: true });
    const { devDependencies, scripts, overrides, private: _, ...published } = manifest;
    writeJson(join(copy, 'package.json'), {
      ...published,
      ...(isUnbundled ? {} : { bundleDependencies: [BUNDLED] }),
    });
    if (!isUnbundled) copyBundled(join(copy, 'node_modules', BUNDLED));
    return npmPack(copy, to);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function copyBundled(to: string): void {
  const from = join(ROOT, 'node_modules', BUNDLED);
  for (const path of BUNDLED_FILES) cpSync(join(from, path), join(to, path), { recursive: true });
  const { dependencies, devDependencies, scripts, files, gypfile, ...manifest } = readJson(
    join(to, 'package.json'),
  );
  writeJson(join(to, 'package.json'), manifest);
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
