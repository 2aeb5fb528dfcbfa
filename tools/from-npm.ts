/**
 * Packages that are no dependency of ours, other versions of Node among them: installed once each, without
 * their scripts, and kept beside the dependencies.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from './build/parts.ts';

const KEPT = join(ROOT, 'node_modules/.cache/fleetq-from-npm');

/** The directory of the package, such as `npm@12` or `@yarnpkg/cli-dist@4`. */
export function fromNpm(spec: string): string {
  const name = spec.slice(0, spec.lastIndexOf('@'));
  const place = join(KEPT, spec.replaceAll('/', '+'));
  if (!existsSync(place)) install(spec, place);
  return join(place, 'node_modules', name);
}

function install(spec: string, place: string): void {
  mkdirSync(KEPT, { recursive: true });
  const fresh = mkdtempSync(join(KEPT, 'new-'));
  writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];
  execFileSync('npm', ['install', ...flags, spec], {
    cwd: fresh,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    renameSync(fresh, place);
  } catch {
    // Another process was faster.
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** A program of that major version: one of the PATH, or of npm. */
export function nodeOf(major: number): string {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const program = join(directory, 'node');
    if (existsSync(program) && versionOf(program).startsWith(`v${major}.`)) return program;
  }
  return join(fromNpm(`node-${process.platform}-${process.arch}@${major}`), 'bin/node');
}

function versionOf(program: string): string {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
