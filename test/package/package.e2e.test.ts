/**
 * The package as users get it: packed, unpacked into an empty directory, and used there. Only its
 * declared dependencies are put beside it, as npm would do; they are linked, so nothing is fetched or
 * compiled.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, ROOT } from '../docs/markdown.ts';
import { type Ended, run, write } from '../docs/workspace.ts';
import { removeTree } from '../support/remove-tree.ts';

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
let place: string;
/** A user's project, with FleetQ and zod installed. */
let project: string;
let packed: string[];

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'fleetq-package-'));
  project = join(place, 'project');
  // Without scripts: `prepare` would build once more, into the tree that others read.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', place];
  const { stdout, stderr, code } = await run(ROOT, 'npm', pack);
  expect(code, stderr).toBe(0);
  const [{ filename, files }] = JSON.parse(stdout);
  packed = files.map(({ path }: { path: string }) => path);

  write(project, 'package.json', '{ "name": "project", "private": true }\n');
  await done(run(place, 'tar', ['-xzf', filename]));
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true });
  renameSync(join(place, 'package'), join(project, 'node_modules/fleetq'));
  for (const name of new Set([...Object.keys(manifest.dependencies), 'zod'])) link(name);
  for (const [name, file] of Object.entries(manifest.bin)) {
    const target = join(project, 'node_modules/fleetq', file);
    chmodSync(target, 0o755);
    symlinkSync(target, join(project, 'node_modules/.bin', name));
  }
});
afterAll(() => removeTree(place));

function link(name: string): void {
  const to = join(project, 'node_modules', name);
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), to);
}

async function done(ending: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await ending;
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

test('the package holds what is needed to run, and nothing else', () => {
  for (const file of [
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'SECURITY.md',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/bin.js',
    'dist/testing/index.js',
    'dist/testing/index.d.ts',
    'dist/testing/crash-child.js',
    'dist/machines/hello.js',
    'migrations/journal/0001_create_journal.sql',
  ]) {
    expect(packed).toContain(file);
  }
  const wanted =
    /^(dist\/|migrations\/|(package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$)/;
  expect(packed.filter((file) => !wanted.test(file))).toEqual([]);
  expect(packed.filter((file) => /\.tsbuildinfo$|\.test\.|\.db/.test(file))).toEqual([]);
});

test('every package that the built files import is a declared dependency', () => {
  const directory = join(project, 'node_modules/fleetq/dist');
  const imported = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
    .flatMap((entry) => {
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
      // The mark at the end tells an import from SQL, which says "distinct from 'turn'".
      const found = text.matchAll(
        /(?:\bfrom |^import |\bimport\(|\bcreateRequire\(.*\)\()['"]([@a-z][^'"\s]*)['"][;,)]/gm,
      );
      return [...found].map((match) => match[1]!);
    })
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );
  expect(imported).toContain('better-sqlite3');
  const { dependencies, peerDependencies } = manifest;
  const own = [...Object.keys({ ...dependencies, ...peerDependencies }), 'fleetq'];
  expect([...new Set(imported)].filter((name) => !own.includes(name))).toEqual([]);
});

test("the README's twelve lines run where the package is installed", async () => {
  const [program, output] = blocksOf('README.md').filter(
    ({ kind }) => kind?.is === 'program' || kind?.is === 'output',
  );
  const lines = program!.text.split('\n').filter((line) => line.trim() !== '');
  expect(lines).toHaveLength(12);
  write(project, 'note.mjs', program!.text);

  expect(await done(run(project, process.execPath, ['note.mjs']))).toBe(output!.text);
  expect(readFileSync(join(project, 'hello.txt'), 'utf8')).toBe('Hello, Ada!');
  // Again, on the journal and the file that are there now: the run is handed off.
  expect(await done(run(project, process.execPath, ['note.mjs']))).toBe(output!.text);
});

const CRASH = `
import { crashTest, fakeClock, memoryStore } from 'fleetq/testing';

const module = import.meta.resolve('./pair.ts');
const { cases, kills, faults } = await crashTest(module, { input: { a: 1 } });
console.log(cases, kills, faults, fakeClock(5).now(), memoryStore().another().capabilities.kind);
`;
const PAIR = `
import { defineMachine } from 'fleetq';
import * as z from 'zod';

export const pair = defineMachine({
  name: 'pair',
  version: 1,
  input: z.object({ a: z.number() }),
  check: 'none',
  work: ({ input }): number => input.a + 1,
});
`;

test('fleetq/testing crashes a machine of the project, written in TypeScript', async () => {
  write(project, 'crash.mjs', CRASH);
  write(project, 'pair.ts', PAIR);
  const stdout = await done(run(project, process.execPath, ['crash.mjs']));
  expect(stdout).toBe('4 4 [] 5 memory\n');
});

test('npx finds the command of the installed package', async () => {
  const stdout = await done(run(project, 'npx', ['--no-install', 'fleetq', '--version']));
  expect(stdout.trim()).toBe(manifest.version);
});

test('the installed command runs a machine that comes with it', async () => {
  const directory = join(place, 'elsewhere');
  write(directory, 'package.json', '{}');
  const command = join(project, 'node_modules/.bin/fleetq');
  const input = JSON.stringify({ name: 'Ada' });
  const args = ['start', 'hello', '--input', input, '--wait', '--json'];
  const shown = JSON.parse(await done(run(directory, command, args)));
  expect(JSON.stringify(shown)).toContain('Hello, Ada!');
});

const CONSUMER = `
import { createFleet, defineMachine, type Fleet, type InputOf, type OutputOf } from 'fleetq';
import { type CrashReport, crashTest, fakeClock, memoryStore } from 'fleetq/testing';
import * as z from 'zod';

export const add = defineMachine({
  name: 'add',
  version: 1,
  input: z.object({ a: z.number(), b: z.number() }),
  check: 'none',
  work: ({ input }) => ({ sum: input.a + input.b }),
});
export const input: InputOf<typeof add> = { a: 1, b: 2 };
export const output: OutputOf<typeof add> = { sum: 3 };
export async function sumOf(fleet: Fleet): Promise<number> {
  const run = await fleet.startLocal(add, input);
  return (await run.result()).sum;
}
export function tested(module: URL): Promise<CrashReport> {
  return crashTest<typeof add>(module, {
    input: ({ directory }) => ({ a: directory.length, b: 2 }),
    verify: ({ output }) => console.log(output.sum),
  });
}
export async function wrong(module: URL): Promise<void> {
  const fleet = await createFleet({ machines: [add], clock: fakeClock(), store: memoryStore() });
  await crashTest(module, { input: { any: 'thing' } });
  // @ts-expect-error: b is missing
  await crashTest<typeof add>(module, { input: { a: 1 } });
  // @ts-expect-error: there is no such option
  await crashTest(module, { input: {}, kills: 3 });
  // @ts-expect-error: b is missing
  await fleet.startLocal(add, { a: 1 });
  // @ts-expect-error: there is no such output
  (await fleet.startLocal(add, input).then((run) => run.result())).difference;
}
`;

test('its types resolve for a strict consumer, with nodenext and with a bundler', async () => {
  link('@types/node');
  link('undici-types');
  write(project, 'consumer/package.json', '{ "type": "module" }');
  write(project, 'consumer/consumer.ts', CONSUMER);
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2023',
      lib: ['es2023', 'esnext.disposable'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      verbatimModuleSyntax: true,
      skipLibCheck: true,
      noEmit: true,
    };
    write(project, 'consumer/tsconfig.json', JSON.stringify({ compilerOptions }));
    const { stdout, code } = await run(project, process.execPath, [tsc, '-p', 'consumer']);
    expect(stdout).toBe('');
    expect(code).toBe(0);
  }
});
