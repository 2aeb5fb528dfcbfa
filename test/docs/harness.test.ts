/** The tests of the pages are worth what these can tell apart. */
import { expect, test } from 'vitest';
import { misfit } from './expected.ts';
import { blocksOf, kindOf } from './markdown.ts';

test('printed text fits what is expected only if no line is missing, another or too many', () => {
  expect(misfit('a\nb\n', 'a\nb\n')).toBeUndefined();
  expect(misfit('a\nb\n', 'a\n')).toBe('b');
  expect(misfit('a\nb\n', 'a\nc\n')).toBe('b');
  expect(misfit('a\n', 'a\nb\n')).toContain('b');
  expect(misfit('', 'a\n')).toContain('a');
});

test('an ellipsis stands for anything within a line, and on a line of its own for any lines', () => {
  expect(misfit('run … ended\n', 'run 01 ended\n')).toBeUndefined();
  expect(misfit('run … ended\n', 'run 01 failed\n')).toBe('run … ended');
  expect(misfit('a\n…\nz\n', 'a\nb\nc\nz\n')).toBeUndefined();
  expect(misfit('a\n…\nz\n', 'a\nb\nc\n')).toBe('z');
  expect(misfit('a\n…\n', 'a\nb\n')).toBeUndefined();
  expect(misfit('(a|b).*\n', 'ab\n')).toBe('(a|b).*');
});

test('blocks are found with their place, and one that is never closed is an error', () => {
  const text = 'Words.\n\n```js file=a.mjs\nlet a;\n```\n\n````text\n```\n````\n';
  const found = blocksOf('page.md', text);
  expect(found.map(({ line, text: inner }) => [line, inner])).toEqual([
    [4, 'let a;\n'],
    [8, '```\n'],
  ]);
  expect(() => blocksOf('page.md', '```js\nlet a;\n')).toThrow('page.md:2');
});

test('a shell block is left out only for a reason', () => {
  expect(kindOf('sh')).toEqual({ is: 'shell' });
  expect(kindOf('sh no-run')).toBeUndefined();
  expect(kindOf('sh no-run (later)')).toBeUndefined();
  expect(kindOf('sh no-run (installs everything anew)')?.is).toBe('unrun');
  expect(kindOf('bash')).toBeUndefined();
  expect(kindOf('')).toBeUndefined();
});
