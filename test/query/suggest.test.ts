/** What could be typed next. */
import { expect, test } from 'vitest';
import { FACTS, suggest } from '../../src/query/index.ts';

const KNOWN = { machine: ['resize-image', 'thumbs', 'my machine'], queue: ['default', 'slow'] };
const at = (text: string, caret = text.length) => suggest(text, caret, KNOWN);

test('fields are suggested first, those that begin like it before those that have it inside', () => {
  expect(at('').words).toContain('machine:');
  expect(at('st').words).toEqual(['status:']);
  expect(at('status:failed -ma')).toEqual({ from: 15, until: 17, words: ['machine:'] });
  expect(at('at').words).toEqual(['status:', 'generation:', 'created:', 'updated:']);
});

test('behind the colon come words of that field', () => {
  expect(at('machine:')).toEqual({
    from: 8,
    until: 8,
    words: ['resize-image', 'thumbs', '"my machine"'],
  });
  expect(at('machine:thumbs,res')).toEqual({ from: 15, until: 18, words: ['resize-image'] });
  expect(at('machine:"my m').words).toEqual(['"my machine"']);
  expect(at('status:FA').words).toEqual(['failed']);
  expect(at('is:').words).toEqual(FACTS);
  expect(at('created:<').words).toEqual(['<1h', '<24h', '<7d']);
  expect(at('nothing:a').words).toEqual([]);
  expect(at('key:a').words).toEqual([]);
});

test('only what stands before the caret counts', () => {
  expect(at('queue:s machine:x', 7)).toEqual({ from: 6, until: 7, words: ['slow'] });
  expect(at('"status:fa', 10).words).toEqual([]);
});
