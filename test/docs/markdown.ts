/** The pages for users, and what a test can take out of them: code blocks, links, headings. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What a block is for, as its info string says: the words after the three backticks. */
export type Kind =
  /** Written to a file, if it has a name, and run. */
  | { readonly is: 'program'; readonly language: 'ts' | 'js'; readonly file: string | undefined }
  /** Part of a program: compiled among names that the test gives it. */
  | { readonly is: 'fragment' }
  | { readonly is: 'shell' }
  | { readonly is: 'unrun'; readonly why: string }
  /** What the block before it prints. */
  | { readonly is: 'output' }
  | { readonly is: 'json' }
  /** Parsed, strictly; a scrape configuration is checked by Prometheus too. */
  | { readonly is: 'yaml' }
  /** Parsed by promtool, and asked of a real Prometheus. */
  | { readonly is: 'promql' }
  /** Executed on a Postgres with the tables of FleetQ. */
  | { readonly is: 'sql' }
  | { readonly is: 'picture' };

export interface Block {
  readonly page: string;
  /** Of the first line of its text, from 1. */
  readonly line: number;
  readonly info: string;
  readonly text: string;
  /** Undefined where the info string is none that the tests know. */
  readonly kind: Kind | undefined;
}

const FENCE = /^(```+)(.*)$/;

export function pages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
  return ['README.md', ...docs];
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

export function blocksOf(page: string, text = readPage(page)): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; info: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const [, fence, info] = FENCE.exec(line) ?? [];
    if (!open && fence !== undefined) {
      open = { fence, info: (info ?? '').trim(), line: index + 2, lines: [] };
    } else if (open && line === open.fence) {
      const { line: at, lines } = open;
      const inner = lines.map((each) => `${each}\n`).join('');
      blocks.push({ page, line: at, info: open.info, text: inner, kind: kindOf(open.info) });
      open = undefined;
    } else {
      open?.lines.push(line);
    }
  }
  if (open) throw new Error(`${page}:${open.line}: the block is never closed`);
  return blocks;
}

export function kindOf(info: string): Kind | undefined {
  const program = /^(ts|js)(?: file=([\w./-]+))?$/.exec(info);
  if (program) return { is: 'program', language: program[1] as 'ts' | 'js', file: program[2] };
  const unrun = /^sh no-run \((.{10,})\)$/.exec(info);
  if (unrun) return { is: 'unrun', why: unrun[1]! };
  switch (info) {
    case 'ts fragment':
      return { is: 'fragment' };
    case 'sh':
      return { is: 'shell' };
    case 'text output':
      return { is: 'output' };
    case 'text':
      return { is: 'picture' };
    case 'json':
      return { is: 'json' };
    case 'yaml':
      return { is: 'yaml' };
    case 'promql':
      return { is: 'promql' };
    case 'sql':
      return { is: 'sql' };
    default:
      return undefined;
  }
}

/** Relative links of a page, its blocks left out: the path, and the heading within it. */
export function linksOf(page: string): { readonly path: string; readonly heading: string }[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', heading = ''] = target.split('#');
      return { path, heading };
    });
}

/** The names by which headings can be linked to. */
export function headingsOf(page: string): string[] {
  return [...prose(page).matchAll(/^#{1,6} (.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}

function prose(page: string): string {
  return readPage(page).replaceAll(/^(```+).*\n[\s\S]*?^\1$/gm, '');
}
