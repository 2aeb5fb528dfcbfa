/** Text of any script in columns: how wide it is on a terminal, and where it is cut. */
import { expect, test } from 'vitest';
import { columnsOf, fitting } from '../../src/cli/columns.ts';
import { pad, tableText } from '../../src/cli/table.ts';

test.each([
  ['llm/eu', 6],
  ['größe…', 6],
  ['●◉○✕★→', 6],
  ['名前', 4],
  ['ｗｉｄｅ', 8],
  ['ﾊﾝｶｸ', 4],
  ['한국어', 6],
  ['模型🚀', 6],
  ['𠮷', 2],
  ['❤️', 2],
  ['🇩🇪', 2],
  ['👩‍👩‍👧', 2],
  ['👍🏽', 2],
  ['e\u0301', 1],
  ['a\u200bb', 2],
  ['1#*', 3],
  ['', 0],
])('%j takes %i columns', (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test('it is cut between characters, and never wider than it may be', () => {
  expect(fitting('模型🚀', 3)).toBe('模');
  expect(fitting('👩‍👩‍👧x', 1)).toBe('');
  expect(fitting('e\u0301e\u0301', 1)).toBe('e\u0301');
  expect(fitting('abc', 2)).toBe('ab');
  for (let width = 1; width < 12; width++) {
    expect(columnsOf(pad('weite-名前-ｗｉｄｅ/模型🚀', width)), `${width}`).toBe(width);
    expect(columnsOf(pad('名🚀', width, 'right')), `${width}`).toBe(width);
  }
});

test('rows of a table line up, whatever script their names are in, and fit the terminal', () => {
  const names = [
    'llm',
    'weite-名前-ｗｉｄｅ/模型🚀',
    'e\u0301te\u0301',
    '한국어 이름이 아주 긴 것입니다',
  ];
  for (const width of [80, 30]) {
    const lines = tableText(
      names,
      [
        { head: 'api', text: (name: string) => name, isElastic: true },
        { head: 'limit', text: () => '8', align: 'right' },
      ],
      width,
      (_, text) => text,
    ).split('\n');
    expect(new Set(lines.map(columnsOf)).size).toBe(1);
    expect(columnsOf(lines[0]!)).toBeLessThanOrEqual(width);
  }
});
