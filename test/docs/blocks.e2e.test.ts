/** Every code block of the docs compiles and runs: a page that has gone stale fails here. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fragmentContext } from './fragment-context.ts';
import { type Block, blocksOf, pages, ROOT } from './markdown.ts';
import { fileOf, performPages, slugOf, useWorkspace } from './perform.ts';
import { run, write } from './workspace.ts';

const all = pages().map((page) => ({ page, blocks: blocksOf(page), slug: slugOf(page) }));
const workspace = useWorkspace();

// The README has a file of its own. Runbooks speak of a fleet that is there already, which theirs has.
performPages(
  pages().filter((page) => page !== 'README.md' && !page.startsWith('docs/runbooks/')),
  workspace,
);

test('every program and every fragment compiles, strictly', async () => {
  const root = 'checked';
  write(workspace(), `${root}/context.d.ts`, fragmentContext());
  for (const { slug, blocks } of all) {
    for (const [index, files] of versionsOf(blocks).entries()) {
      const directory = `${root}/${slug}/version-${index + 1}`;
      for (const [file, text] of files) write(workspace(), `${directory}/${file}`, text);
    }
  }
  write(
    workspace(),
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
  const { stdout, code } = await run(workspace(), process.execPath, [tsc, '-p', root]);
  expect(stdout).toBe('');
  expect(code).toBe(0);
});

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

/** A file without imports would be a script, whose names all others would see. */
function moduleOf({ text }: Block): string {
  return `${text}\nexport {};\n`;
}
