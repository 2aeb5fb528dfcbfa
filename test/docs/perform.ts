/** Runs the code blocks of a page, one after the other, and holds what they print against the page. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { misfit } from './expected.ts';
import { type Block, blocksOf } from './markdown.ts';
import { type Ended, makeWorkspace, removeWorkspace, run, write } from './workspace.ts';

/** Call once at the top of a test file: a project with FleetQ in it. */
export function useWorkspace(): () => string {
  let workspace: string;
  beforeAll(() => {
    workspace = makeWorkspace();
  });
  afterAll(() => removeWorkspace(workspace));
  return () => workspace;
}

/** A test for each of these pages that has something to run. */
export function performPages(pages: readonly string[], workspace: () => string): void {
  for (const page of pages) {
    const blocks = blocksOf(page);
    if (!blocks.some(isRunnable)) continue;
    // At once: they mostly wait, each in a directory of its own.
    test.concurrent(`what ${page} shows happens as it says`, { timeout: 300_000 }, async () => {
      const directory = join(workspace(), 'run', slugOf(page));
      write(directory, '.keep', '');
      for (const [index, block] of blocks.entries()) {
        const next = blocks[index + 1];
        const expected = next?.kind?.is === 'output' ? next.text : undefined;
        const ended = await perform(workspace(), directory, block, expected !== undefined);
        if (ended) judge(block, ended, expected);
      }
    });
  }
}

/** Undefined where there was nothing to run: a file is only written if its output is not shown. */
async function perform(
  workspace: string,
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
export function slugOf(page: string): string {
  return page
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replaceAll('/', '-');
}

export function fileOf({ kind, line }: Block): string | undefined {
  if (kind?.is === 'fragment') return `fragment-${line}.mts`;
  if (kind?.is !== 'program') return undefined;
  return kind.file ?? `line-${line}.${kind.language === 'ts' ? 'mts' : 'mjs'}`;
}
