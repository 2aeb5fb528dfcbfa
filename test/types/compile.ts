/** Compiles small programs against FleetQ's source with the TypeScript command, in a directory of its own. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const COMPILE_MS_MAX = 180_000;

export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  /** Its lines, the most specific one last, as editors show them. */
  readonly message: readonly string[];
}

export interface Compiled {
  readonly diagnostics: readonly Diagnostic[];
  /** What was emitted to this path, such as 'a.d.ts'. */
  emitted(path: string): Promise<string>;
}

/** The path in the place where programs are compiled, and what stands there. */
export type Files = Readonly<Record<string, string>>;

/** Compiles `files` in one go; `fleetq` is the entry point that the programs import. */
export async function compile<T>(
  files: Files,
  look: (compiled: Compiled) => T | Promise<T>,
  { fleetq = join(root, 'src/index.ts'), options = {} }: { fleetq?: string; options?: object } = {},
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'fleetq-types-'));
  try {
    await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
    const { compilerOptions } = JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8'));
    const config = {
      compilerOptions: { ...compilerOptions, paths: { fleetq: [fleetq] }, ...options },
      files: Object.keys(files).filter((path) => /^[^/]+\.ts$/.test(path)),
    };
    const all = { 'package.json': '{"type":"module"}', 'tsconfig.json': JSON.stringify(config) };
    for (const [path, text] of Object.entries({ ...files, ...all })) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    }
    const diagnostics = parse(await run(dir));
    return await look({ diagnostics, emitted: (path) => readFile(join(dir, path), 'utf8') });
  } finally {
    await rm(dir, { recursive: true });
  }
}

function run(dir: string): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return new Promise((resolve, reject) => {
    const args = [tsc, '-p', 'tsconfig.json', '--pretty', 'false'];
    execFile(
      process.execPath,
      args,
      { cwd: dir, timeout: COMPILE_MS_MAX, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        // Programs with errors end it with 1 or 2; anything else means that it did not compile at all.
        if (error && error.code !== 1 && error.code !== 2) reject(new Error(`${error}\n${stderr}`));
        else resolve(stdout);
      },
    );
  });
}

function parse(stdout: string): Diagnostic[] {
  const found: (Diagnostic & { message: string[] })[] = [];
  for (const line of stdout.split('\n')) {
    const head = /^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$/.exec(line);
    if (head) {
      const [, file = '', at, code = '', message = ''] = head;
      found.push({ file, line: Number(at), code, message: [message] });
    } else if (line.startsWith('  ')) {
      found.at(-1)?.message.push(line.trim());
    }
  }
  return found;
}
