/** The words people type, and what they are taken for. */
import { expect, test } from 'vitest';
import { parseFilter, QueryError, showFilter } from '../../src/query/index.ts';

const H = 3_600_000;
const at = (text: string) => ({ at: Date.parse(text) });

function termOf(text: string): Record<string, unknown> {
  const { terms } = parseFilter(text);
  expect(terms).toHaveLength(1);
  return terms[0] as unknown as Record<string, unknown>;
}

function refusal(text: string): QueryError {
  try {
    parseFilter(text);
  } catch (error) {
    expect(error).toBeInstanceOf(QueryError);
    return error as QueryError;
  }
  throw new Error(`${text} was taken`);
}

test('terms of a filter are words, counts, times and text, each with a minus or without', () => {
  expect(
    parseFilter(' machine:resize*,"my thumbs"  -queue:slow retries:>=3 "no such bucket" '),
  ).toEqual({
    terms: [
      { kind: 'words', field: 'machine', isNot: false, words: ['resize*', 'my thumbs'] },
      { kind: 'words', field: 'queue', isNot: true, words: ['slow'] },
      { kind: 'number', field: 'retries', isNot: false, from: 3, until: undefined },
      { kind: 'text', isNot: false, text: 'no such bucket' },
    ],
  });
  expect(parseFilter('')).toEqual({ terms: [] });
});

test('quotes hold blanks, colons, commas and quotes, and may be a part of a word', () => {
  expect(termOf('key:"a, b: \\"c\\" \\\\"')).toMatchObject({ words: ['a, b: "c" \\'] });
  expect(termOf('key:or"der 1"*')).toMatchObject({ words: ['order 1*'] });
  expect(termOf('key:order:7')).toMatchObject({ words: ['order:7'] });
  expect(termOf('"status:failed"')).toEqual({ kind: 'text', isNot: false, text: 'status:failed' });
  expect(termOf('--x')).toEqual({ kind: 'text', isNot: true, text: '-x' });
});

test('closed words are known however their letters are typed', () => {
  expect(termOf('Status:FAILED,handedoff')).toMatchObject({
    field: 'status',
    words: ['failed', 'handedOff'],
  });
  expect(termOf('is:Dead-Letter')).toMatchObject({ words: ['dead-letter'] });
});

test('counts include both ends', () => {
  const spans = {
    '3': [3, 3],
    '>3': [4, undefined],
    '>=3': [3, undefined],
    '<3': [undefined, 2],
    '<=-3': [undefined, -3],
    '2..5': [2, 5],
    '2..': [2, undefined],
    '..5': [undefined, 5],
    '-5..-1': [-5, -1],
  };
  for (const [text, [from, until]] of Object.entries(spans)) {
    expect(termOf(`priority:${text}`), text).toMatchObject({ from, until });
  }
});

test('an age is counted back from now: less of it is later', () => {
  expect(termOf('created:<2h')).toMatchObject({ from: { agoMs: 2 * H }, until: undefined });
  expect(termOf('created:>2h')).toMatchObject({ from: undefined, until: { agoMs: 2 * H } });
  expect(termOf('created:2h..1h')).toMatchObject({ from: { agoMs: 2 * H }, until: { agoMs: H } });
  expect(termOf('created:1w..')).toMatchObject({ from: { agoMs: 168 * H }, until: undefined });
});

test('what is ahead has a plus, and now is now', () => {
  expect(termOf('due:<+2h')).toMatchObject({ from: undefined, until: { agoMs: -2 * H } });
  expect(termOf('due:>+2h')).toMatchObject({ from: { agoMs: -2 * H }, until: undefined });
  expect(termOf('due:now..+1h')).toMatchObject({ from: { agoMs: 0 }, until: { agoMs: -H } });
  expect(termOf('due:<now')).toMatchObject({ from: undefined, until: { agoMs: 0 } });
});

test('a date is the whole day, a time the whole minute, second or millisecond', () => {
  const [day, next] = [at('2026-11-01'), at('2026-11-02')];
  const [ten, past] = [at('2026-11-01T10:00Z'), at('2026-11-01T10:01Z')];
  const spans = {
    '2026-11-01': [day, next],
    '2026-11-01..2026-11-05': [day, at('2026-11-06')],
    '<2026-11-01': [undefined, day],
    '<=2026-11-01': [undefined, next],
    '>2026-11-01': [next, undefined],
    '>=2026-11-01': [day, undefined],
    '>=2026-11-01T10:00Z': [ten, undefined],
    '>2026-11-01t10:00': [past, undefined],
    '2026-11-01T11:00+01:00': [ten, past],
    '2026-11-01T10:00:00': [ten, at('2026-11-01T10:00:01Z')],
    '..2026-11-01T10:00:00.5-00:30': [undefined, { at: at('2026-11-01T10:30Z').at + 501 }],
  };
  for (const [text, [from, until]] of Object.entries(spans)) {
    expect(termOf(`created:${text}`), text).toMatchObject({ from, until });
  }
});

test('what cannot be is refused with its place, what was wanted, and what may be meant', () => {
  const field = refusal('machine:a staus:failed');
  expect(field).toMatchObject({ code: 'FLEETQ_BAD_FILTER', spot: { from: 10, until: 15 } });
  expect(field.message).toBe('the filter is wrong at character 11: there is no field "staus"');
  expect(field.hint).toMatch(/^did you mean status\? fields are id, machine, .*quoted$/);

  const word = refusal('status:ok,faild');
  expect(word.message).toMatch(/character 8: status must be one of .*, got "ok"/);
  expect(refusal('status:faild').hint).toBe('did you mean status:failed?');
  expect(refusal('is:blokced').hint).toBe('did you mean is:blocked?');
});

test.each([
  ['retries:many', /retries wants a whole number/],
  ['retries:1.5', /whole number/],
  ['retries:5..2', /whole number/],
  ['retries:..', /whole number/],
  ['retries:1234567890123456', /whole number/],
  ['retries:1,2', /takes one value, got 2/],
  ['created:2h', /created wants an age such as <2h/],
  ['created:<2y', /an age/],
  ['created:2026-02-30', /an age/],
  ['created:2026-11-01T24:00', /an age/],
  ['created:1h..2h', /an age/],
  ['created:2026-11-05..2026-11-01', /an age/],
  ['created:<900w', /an age/],
  ['created:>9999-01-01', /an age/],
  ['version:two', /version must be a whole number/],
  ['machine:', /a word is missing after machine:/],
  ['machine:a,,b', /a word is missing after machine:a,/],
  ['machine: a', /a word is missing/],
  [':a', /there is no field ""/],
  ['-', /a minus stands alone/],
  ['a - b', /a minus stands alone/],
  ['""', /no text to look for/],
  ['key:"a', /a quote is not closed/],
  ['a'.repeat(2_001), /longer than 2000 characters/],
  ['a '.repeat(51), /more than 50 terms/],
  [`id:${'a,'.repeat(100)}a`, /more than 100 words/],
])('%s is refused', (text, message) => {
  expect(refusal(text).message).toMatch(message);
});

test('a filter is shown as a person would write it', () => {
  const shown = {
    'machine:a,"b c" -queue:slow text': 'machine:a,"b c" -queue:slow text',
    'retries:>2 priority:1..1 claims:<3': 'retries:>=3 priority:1 claims:<=2',
    'created:<120m finished:>7d due:<+1h': 'created:<2h finished:>1w due:<+1h',
    'created:2026-11-01..2026-11-05': 'created:2026-11-01..2026-11-05',
    'created:2026-11-01T11:00+01:00': 'created:2026-11-01T10:00Z',
    'created:<=2026-11-01': 'created:<2026-11-02',
    'created:24h..now': 'created:1d..now',
    '-"a:b" "-c"': '-"a:b" "-c"',
  };
  for (const [text, wanted] of Object.entries(shown)) {
    expect(showFilter(parseFilter(text))).toBe(wanted);
  }
});
