/**
 * Real child processes. Their programs are TypeScript like everything else, compiled once together
 * with `src/`, so that a child starts in a fifth of a second and runs what is in the tree now.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hash } from '../../src/ground/index.ts';
import { removeTree } from './remove-tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'fleetq-children');
const KEPT_MS_MAX = 3_600_000;
let compiled: string | undefined;

/** The compiled form of a program of the tree, such as `test/journal/kill-child.ts`; compiles after a change. */
export function childProgram(program: string): string {
  compiled ??= compileOnce();
  return join(compiled, program.replace(/\.ts$/, '.js'));
}

function compileOnce(): string {
  mkdirSync(CACHE, { recursive: true });
  forgetOld();
  const place = join(CACHE, hash(describeSources()));
  if (existsSync(place)) return place;
  const fresh = mkdtempSync(join(CACHE, 'new-'));
  compileInto(fresh);
  try {
    renameSync(fresh, place);
  } catch {
    // Somebody else was faster with the same.
    removeTree(fresh);
  }
  return place;
}

/** Changes whenever one of the files does. */
function describeSources(): string {
  const files = ['src', 'test', 'proof', 'machines'].flatMap((directory) =>
    readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(ROOT, directory, file)),
  );
  return files
    .sort()
    .map((file) => `${file} ${statSync(file).mtimeMs} ${statSync(file).size}`)
    .join('\n');
}

function forgetOld(): void {
  for (const name of readdirSync(CACHE)) {
    const place = join(CACHE, name);
    // Another test file may rename or forget it at this moment.
    const found = statSync(place, { throwIfNoEntry: false });
    if (found === undefined || Date.now() - found.mtimeMs < KEPT_MS_MAX) continue;
    removeTree(place);
  }
}

function compileInto(out: string): void {
  // What is compiled is the package itself to the machines among it, which know it by its name.
  const itself = { name: 'fleetq', type: 'module', exports: './src/index.js' };
  writeFileSync(join(out, 'package.json'), JSON.stringify(itself));
  symlinkSync(join(ROOT, 'migrations'), join(out, 'migrations'));
  const config = join(out, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        noCheck: true,
        allowImportingTsExtensions: false,
        rewriteRelativeImportExtensions: true,
        rootDir: ROOT,
        outDir: out,
        paths: { fleetq: [join(ROOT, 'src/index.ts')] },
      },
      include: ['src', 'test/**/*-child.ts', 'proof/**/*-child.ts'].map((path) => join(ROOT, path)),
    }),
  );
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', config], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (!existsSync(join(out, 'src/index.js'))) throw new Error(`nothing was compiled into ${out}`);
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `program` with `argument` as JSON; the caller reads, writes and kills. */
export function startChild(
  program: string,
  argument: object,
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  return spawn(process.execPath, [childProgram(program), JSON.stringify(argument)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
}

const CHILD_MS_MAX = 180_000;

/** Runs `program` to its end, however it ends; one that hangs is killed and is an error. */
export function runChild(
  program: string,
  argument: object,
  env?: NodeJS.ProcessEnv,
): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    const child = startChild(program, argument, env);
    let stdout = '';
    let stderr = '';
    child.stdin?.end();
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${program} ${JSON.stringify(argument)} hangs: ${stdout}${stderr}`));
    }, CHILD_MS_MAX);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr });
    });
  });
}
