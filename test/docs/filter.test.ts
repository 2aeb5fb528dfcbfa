/** The page of filters says what the grammar has, and every example on it is one. */
import { expect, test } from 'vitest';
import {
  FACTS,
  FIELDS,
  LENGTH_MAX,
  OUTCOMES,
  parseFilter,
  STATUSES,
  showFilter,
  TERMS_MAX,
  WAITS,
  WORDS_MAX,
} from '../../src/query/index.ts';
import { blocksOf, readPage } from './markdown.ts';

const PAGE = 'docs/reference/filter.md';
const rows = readPage(PAGE)
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

test('it has every field, every fact, and every word of those that are limited', () => {
  const firsts = rows.map(([, cell]) => cell!.replaceAll('`', ''));
  expect(firsts.filter((cell) => !cell.includes(':'))).toEqual(FIELDS);
  expect(firsts.filter((cell) => cell.startsWith('is:'))).toEqual(
    FACTS.map((fact) => `is:${fact}`),
  );
  const wordsOf = (field: string) => namesIn(rows.find(([, cell]) => cell === `\`${field}\``)?.[2]);
  expect(new Set(wordsOf('status'))).toEqual(new Set(STATUSES));
  expect(wordsOf('outcome')).toEqual(OUTCOMES);
  expect(wordsOf('wait')).toEqual(WAITS);
});

test('every example is a filter, and stays one when it is shown', () => {
  const inTables = rows.flatMap((row) => row.flatMap(namesIn)).filter((name) => name.includes(':'));
  const inText = [...readPage(PAGE).matchAll(/`(-?[a-z]+:[^`]+)`/g)].map((match) => match[1]!);
  const inBlocks = blocksOf(PAGE)
    .filter(({ kind }) => kind?.is === 'picture')
    .map(({ text }) => text.trim());
  const examples = new Set([...inTables, ...inText, ...inBlocks]);
  expect(examples.size).toBeGreaterThan(30);
  for (const example of examples) {
    const parsed = parseFilter(example);
    expect(parseFilter(showFilter(parsed)), example).toEqual(parsed);
  }
});

test('its bounds are those of the code', () => {
  const [length, terms, words] = [LENGTH_MAX.toLocaleString('en'), TERMS_MAX, WORDS_MAX];
  expect(readPage(PAGE)).toContain(`${length} characters, ${terms} terms and ${words} words`);
});
