/** The code blocks of README and docs are what they say they are; blocks.e2e.test.ts runs them. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { blocksOf, pages } from './markdown.ts';

const UNRUN_COUNT_MAX = 8;
const all = pages().map((page) => ({ blocks: blocksOf(page) }));

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
