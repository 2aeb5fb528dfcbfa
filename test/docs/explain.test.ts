/** The page of explanations has every code, with what the code's own table says of it. */
import { expect, test } from 'vitest';
import { CODES } from '../../src/admin/explain/index.ts';
import { readPage } from './markdown.ts';

test('the page of explanations is the table of codes', () => {
  const told = readPage('docs/reference/explain.md')
    .split('\n')
    .flatMap((line) => [...line.matchAll(/^\| `([a-z-]+)` \| (.+?) \|/g)])
    .map(([, code, about]) => [code, about]);
  expect(told).toEqual(Object.entries(CODES));
});
