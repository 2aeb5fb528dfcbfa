/** Every code block of README and docs is compiled and run: a page that has gone stale fails here. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { misfit } from './expected.ts';
import { fragmentContext } from './fragment-context.ts';
import { type Block, blocksOf, pages, ROOT } from './markdown.ts';
import { type Ended, makeWorkspace, removeWorkspace, run, write } from './workspace.ts';

const UNRUN_COUNT_MAX = 8;
const all = pages().map((page) => ({ page, blocks: blocksOf(page), slug: slugOf(page) }));
let workspace: string;

beforeAll(() => {
  workspace = makeWorkspace();
});
afterAll(() => removeWorkspace(workspace));

test('every block says what it is, in words that the tests know', () => {
  const unknown = all
    .flatMap(({ blocks }) => blocks)
    .filter(({ kind }) => kind === undefined)
    .map(({ page, line, info }) => `${page}:${line}: \`\`\`${info}`);
  expect(unknown).toEqual([]);
});

test('an output follows the block that prints it', () => {
  const lost = all.flatMap(({ blocks }) =>
    blocks.filter(({ kind }, index) => {
      const before = blocks[index - 1]?.kind?.is;
      return kind?.is === 'output' && before !== 'program' && before !== 'shell';
    }),
  );
  expect(lost.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

test('the shell blocks that are not run are few, and each says why', () => {
  const unrun = all.flatMap(({ blocks }) => blocks).filter(({ kind }) => kind?.is === 'unrun');
  expect(unrun.length).toBeLessThanOrEqual(UNRUN_COUNT_MAX);
});

test('JSON in the pages is JSON, and YAML is YAML', () => {
  for (const { kind, text, page, line } of all.flatMap(({ blocks }) => blocks)) {
    if (kind?.is === 'json') expect(() => JSON.parse(text), `${page}:${line}`).not.toThrow();
    if (kind?.is === 'yaml') expect(() => parse(text), `${page}:${line}`).not.toThrow();
  }
});

test('every program and every fragment compiles, strictly', async () => {
  const root = 'checked';
  write(workspace, `${root}/context.d.ts`, fragmentContext());
  for (const { slug, blocks } of all) {
    for (const [index, files] of versionsOf(blocks).entries()) {
      const directory = `${root}/${slug}/version-${index + 1}`;
      for (const [file, text] of files) write(workspace, `${directory}/${file}`, text);
    }
  }
  write(
    workspace,
    `${root}/tsconfig.json`,
    JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        lib: ['es2023', 'esnext.disposable'],
        module: 'nodenext',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        allowJs: true,
        checkJs: true,
        noEmit: true,
        types: ['node'],
      },
      include: ['**/*'],
    }),
  );
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout, code } = await run(workspace, process.execPath, [tsc, '-p', root]);
  expect(stdout).toBe('');
  expect(code).toBe(0);
});

// Runbooks speak of a fleet that is there already: runbooks.test.ts has one for them.
const alone = all.filter(({ page }) => !page.startsWith('docs/runbooks/'));
for (const { page, blocks, slug } of alone.filter(({ blocks }) => blocks.some(isRunnable))) {
  // At once: they mostly wait, each in a directory of its own.
  test.concurrent(`what ${page} shows happens as it says`, { timeout: 300_000 }, async () => {
    const directory = join(workspace, 'run', slug);
    write(directory, '.keep', '');
    for (const [index, block] of blocks.entries()) {
      const next = blocks[index + 1];
      const expected = next?.kind?.is === 'output' ? next.text : undefined;
      const ended = await perform(directory, block, expected !== undefined);
      if (ended) judge(block, ended, expected);
    }
  });
}

/** Undefined where there was nothing to run: a file is only written if its output is not shown. */
async function perform(
  directory: string,
  block: Block,
  hasOutput: boolean,
): Promise<Ended | undefined> {
  const { kind, text } = block;
  if (kind?.is === 'shell') {
    // The reference of the command line writes `fleetq` for what is `npx fleetq` in a project.
    const PATH = `${join(workspace, 'node_modules/.bin')}:${process.env['PATH']}`;
    return run(directory, 'bash', ['-euo', 'pipefail', '-c', text], { PATH });
  }
  if (kind?.is !== 'program') return undefined;
  const file = fileOf(block)!;
  write(directory, file, text);
  if (kind.file !== undefined && !hasOutput) return undefined;
  return run(directory, process.execPath, [file]);
}

function judge(block: Block, { code, stdout, stderr }: Ended, expected = ''): void {
  const where = `${block.page}:${block.line}`;
  const printed = `${where} printed:\n${stdout}\nand on stderr:\n${stderr}`;
  expect(code, printed).toBe(0);
  expect(misfit(expected, stdout), printed).toBeUndefined();
}

function isRunnable({ kind }: Block): boolean {
  return kind?.is === 'program' || kind?.is === 'shell';
}

/** Short, since a socket's path may not be long. */
function slugOf(page: string): string {
  return page
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replaceAll('/', '-');
}

/** The files of a page, which may import each other; one that is shown again begins a new version. */
function versionsOf(blocks: readonly Block[]): Map<string, string>[] {
  const versions = [new Map<string, string>()];
  for (const block of blocks) {
    const file = fileOf(block);
    if (file === undefined) continue;
    if (versions.at(-1)?.has(file)) versions.push(new Map(versions.at(-1)));
    versions.at(-1)?.set(file, moduleOf(block));
  }
  return versions;
}

function fileOf({ kind, line }: Block): string | undefined {
  if (kind?.is === 'fragment') return `fragment-${line}.mts`;
  if (kind?.is !== 'program') return undefined;
  return kind.file ?? `line-${line}.${kind.language === 'ts' ? 'mts' : 'mjs'}`;
}

/** A file without imports would be a script, whose names all others would see. */
function moduleOf({ text }: Block): string {
  return `${text}\nexport {};\n`;
}
