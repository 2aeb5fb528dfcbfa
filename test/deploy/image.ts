/**
 * The image without Docker: the stages of deploy/Dockerfile performed in a directory. COPY and RUN do
 * what they say, relative to it, with one exception: unless it is asked to be `fresh`, what npm would
 * install, compile and build is taken from this tree, whose files are the same.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../docs/markdown.ts';
import { copyOf, letIn, readDockerfile, type Stage } from './dockerfile.ts';

/** Answers the root of the image: a directory with /app in it. */
export function layImage(place: string, { fresh = false } = {}): string {
  const roots = new Map<string, string>();
  for (const [index, stage] of readDockerfile().entries()) {
    const name = stage.name ?? String(index);
    const root = join(place, name);
    roots.set(name, root);
    perform(stage, root, roots, fresh);
  }
  return [...roots.values()].at(-1)!;
}

/** What is built from them is taken as it is. */
const FOR_THE_COMPILER = ['admin-ui', 'src', 'machines'];

function perform(stage: Stage, root: string, roots: Map<string, string>, fresh: boolean): void {
  let cwd = root;
  mkdirSync(root, { recursive: true });
  for (const { word, rest } of stage.instructions) {
    if (word === 'WORKDIR') {
      cwd = join(root, rest);
      mkdirSync(cwd, { recursive: true });
    }
    if (word === 'COPY') copy(rest, cwd, roots, fresh);
    if (word === 'RUN') runIn(rest, cwd, root, fresh);
  }
}

function copy(rest: string, cwd: string, roots: Map<string, string>, fresh: boolean): void {
  const { stage, from, to } = copyOf(rest);
  for (const path of from) {
    if (stage === undefined && !letIn().includes(path)) {
      throw new Error(`COPY ${path}: .dockerignore does not let it in`);
    }
    if (!fresh && FOR_THE_COMPILER.includes(path)) continue;
    const target = to.endsWith('/') ? join(cwd, to, path) : join(cwd, to);
    // A stage that was built has served its purpose: moved is as good as copied.
    if (stage !== undefined) renameSync(join(roots.get(stage)!, path), target);
    else cpSync(join(ROOT, path), target, { recursive: true });
  }
}

function runIn(command: string, cwd: string, root: string, fresh: boolean): void {
  if (!fresh && command === 'npm ci') return takeInstalled(cwd);
  if (!fresh && command.startsWith('npm run build ')) return takeBuilt(cwd);
  // Absolute paths are meant within the image.
  const within = command.replaceAll(/ (\/[a-z])/g, ` ${root}$1`);
  if (/^mkdir \//.test(command)) mkdirSync(join(root, 'var/lib'), { recursive: true });
  if (command.includes('chown') && process.getuid?.() !== 0) return;
  execFileSync('sh', ['-euc', within], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly dev?: true; readonly devOptional?: true; readonly link?: true }>
  >;
}

/** What `npm prune --omit=dev` leaves of an installation, by the word of the lock file. */
function takeInstalled(cwd: string): void {
  const { packages } = JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8')) as Lock;
  mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true });
  for (const [path, { dev, devOptional, link }] of Object.entries(packages)) {
    if (path === '' || dev || devOptional || link || !existsSync(join(ROOT, path))) continue;
    copyWhatRuns(join(ROOT, path), join(cwd, path));
  }
}

/** Sources, types and prose would be half of the files, and nothing that is run. */
const ASIDE =
  /\.([mc]?ts|map|md|yml|[ch]pp|c|h|o|d)$|better-sqlite3\/(deps|src)$|\/obj(\.target)?$/;

function copyWhatRuns(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => !ASIDE.test(file),
  });
}

function takeBuilt(cwd: string): void {
  if (!existsSync(join(ROOT, 'dist/bin.js'))) throw new Error('run `npm run build` first');
  copyWhatRuns(join(ROOT, 'dist'), join(cwd, 'dist'));
}
