/** A directory as a user of FleetQ has it: the built package, zod, fastify and pg are installed, nothing else is. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../support/remove-tree.ts';
import { ROOT } from './markdown.ts';

/** What a user installs, and what npm would put beside it since FleetQ needs it. */
const BESIDE = [
  ...['zod', 'fastify', 'pg', 'typescript', '@types/node', '@types/pg', 'undici-types'],
  ...['better-sqlite3', '@types/better-sqlite3', '@opentelemetry'],
];

/** Makes the directory; `fleetq` is where the package lies. */
export function makeWorkspace(fleetq = ROOT): string {
  if (!existsSync(join(fleetq, 'dist/index.js'))) throw new Error('run `npm run build` first');
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-docs-'));
  write(directory, 'package.json', '{ "name": "docs", "private": true }\n');
  link(fleetq, join(directory, 'node_modules/fleetq'));
  for (const name of BESIDE) {
    const installed = join(ROOT, 'node_modules', name);
    if (existsSync(installed)) link(installed, join(directory, 'node_modules', name));
  }
  const command = join(fleetq, 'dist/bin.js');
  // A command needs leave to be executed, which npm gives when it installs one.
  if (existsSync(command)) chmodSync(command, 0o755);
  link(command, join(directory, 'node_modules/.bin/fleetq'));
  return directory;
}

export function removeWorkspace(directory: string): void {
  removeTree(directory);
}

export function write(directory: string, file: string, text: string): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), text);
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A crash test is some twenty processes one after the other. */
const RUN_MS_MAX = 180_000;

/** Runs a command to its end. Whatever it has left running is ended with it. */
export function run(
  directory: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: directory,
      // A group of its own, so that what a shell starts in the background can be ended by its id.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...cleanEnvironment(), ...env },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const timer = setTimeout(() => endGroup(child.pid), RUN_MS_MAX);
    child.once('error', reject);
    child.once('exit', () => endGroup(child.pid));
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody was left in it.
  }
}

/** Without what a test runner or an enclosing npm sets: it would change what the commands do. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const isOurs = /^(FLEETQ_|VITEST|npm_|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$|TEST$|FORCE_COLOR$)/;
  const kept = Object.entries(process.env).filter(([name]) => !isOurs.test(name));
  return { ...Object.fromEntries(kept), NO_COLOR: '1' };
}
