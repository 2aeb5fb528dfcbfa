/** What the palette finds, views, zones, and where two runs part; pure. */
import { expect, test } from 'vitest';
import { type Choice, choicesFor } from '../../admin-ui/src/pages/choices.ts';
import { alignedOf, partedAt } from '../../admin-ui/src/pages/compare/sides.ts';
import { KNOWN_VIEWS } from '../../admin-ui/src/pages/runs/known-views.ts';
import { timeIn, zoneNamed } from '../../admin-ui/src/platform/zones.ts';
import type { RunRecord } from '../../admin-ui/src/services/types.ts';
import { parseFilter } from '../../src/query/index.ts';

test('a few letters find what begins with them first, and a run by its id', () => {
  const all: Choice[] = ['Dead letters', 'Errors', 'Overview', 'Runs', 'image/errors'].map(
    (name) => ({ kind: 'page', name, to: `/${name}` }),
  );
  const names = (text: string) => choicesFor(text, all).map(({ name }) => name);
  expect(names('')).toEqual(all.map(({ name }) => name));
  expect(names('err')).toEqual(['Errors', 'image/errors', 'Search runs: err']);
  expect(names('dls')[0]).toBe('Dead letters');
  expect(names('no such page')).toEqual(['Search runs: no such page']);
  const id = '01JCQ8ZZZZZZZZZZZZZZZZZZZZ';
  expect(choicesFor(` ${id} `, all)[0]).toMatchObject({ kind: 'run', to: `/runs/${id}` });
  expect(choicesFor('a&b', all).at(-1)!.to).toBe('/runs?q=a%26b');
});

test('every view that everybody has is a filter that the server takes', () => {
  for (const { filter } of KNOWN_VIEWS) expect(() => parseFilter(filter)).not.toThrow();
});

test('times are those of clocks in a zone, with its summer', () => {
  expect(timeIn('Europe/Berlin', Date.UTC(2026, 0, 1, 23, 30, 5, 7))).toBe(
    '2026-01-02T00:30:05.007',
  );
  expect(timeIn('Europe/Berlin', Date.UTC(2026, 6, 1, 23, 30))).toBe('2026-07-02T01:30:00.000');
  expect(timeIn('Asia/Kathmandu', Date.UTC(2026, 0, 1))).toBe('2026-01-01T05:45:00.000');
  expect(zoneNamed('asia/TOKYO')).toBe('Asia/Tokyo');
  for (const none of ['Nowhere/Land', 'local', '']) expect(zoneNamed(none)).toBe(undefined);
});

test('two runs part where their records first tell something else', () => {
  const record = (seq: number, type: string, state = 'a.work') => ({ seq, state, event: { type } });
  const course = (...types: string[]) => types.map((type, seq) => record(seq, type)) as RunRecord[];
  expect(partedAt(course('STARTED', 'DONE'), course('STARTED', 'DONE'))).toBe(undefined);
  expect(partedAt(course('STARTED', 'FAILED', 'DONE'), course('STARTED', 'DONE'))).toBe(1);
  expect(partedAt(course('STARTED'), course('STARTED', 'DONE'))).toBe(1);
  expect(alignedOf(['a', 'c'], ['a', 'b', 'c', 'd'])).toEqual(['a', 'b', 'c', 'd']);
  expect(alignedOf([], ['x'])).toEqual(['x']);
});
