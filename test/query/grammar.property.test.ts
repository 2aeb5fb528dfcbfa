/** What holds for every filter and for every text. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  LENGTH_MAX,
  matches,
  parseFilter,
  QueryError,
  showFilter,
  suggest,
} from '../../src/query/index.ts';
import { seeded } from '../ground/seed.ts';
import { filter } from './arbitrary.ts';

/** Nearly filters: what parts of them look like, in any order. */
const pieces = fc.constantFrom(
  ...[
    'status:',
    'machine:',
    'created:',
    'retries:',
    'is:',
    'error:',
    '-',
    '"',
    '\\',
    ',',
    ':',
    '*',
  ],
  ...[
    '..',
    '<',
    '>=',
    '2h',
    '+1d',
    'now',
    '2026-11-01',
    'T10:00Z',
    '2026-13-41',
    '3',
    '-7',
    'failed',
  ],
  ...[' ', '\t', '\n', '\u0000', '\ud800', '😀', 'é', '__proto__:', 'constructor:', '1e9', '0x'],
);
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 30 }).map((found) => found.join('')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ maxLength: 60 }),
);

test('whatever a filter says, it is the same after it was shown and parsed', () => {
  fc.assert(
    fc.property(filter, (given) => {
      expect(parseFilter(showFilter(given))).toEqual(given);
    }),
    seeded(3_000),
  );
});

test('any text is a filter, or is refused with a place inside it', () => {
  fc.assert(
    fc.property(texts, (text) => {
      try {
        const parsed = parseFilter(text);
        expect(parseFilter(showFilter(parsed))).toEqual(parsed);
        matches(parsed, { id: 'a', machine: 'b', is: [] }, 0);
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        expect(error.spot.from).toBeGreaterThanOrEqual(0);
        expect(error.spot.from).toBeLessThanOrEqual(error.spot.until);
        expect(error.spot.until).toBeLessThanOrEqual(text.length);
      }
    }),
    seeded(10_000),
  );
});

test('suggestions replace what stands before the caret, and never fail', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: -2, max: 80 }), fc.string(), (text, caret, known) => {
      const { from, until, words } = suggest(text, caret, { machine: [known] });
      expect(0 <= from && from <= until && until <= text.length).toBe(true);
      expect(words.length).toBeLessThanOrEqual(20);
    }),
    seeded(3_000),
  );
});

test('a suggestion that is taken makes a term that is understood', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 10 }), (known) => {
      const { from, words } = suggest('machine:', 8, { machine: [known] });
      const taken = `machine:${words[0]}`;
      expect(from).toBe(8);
      expect(parseFilter(taken).terms).toMatchObject([{ field: 'machine', words: [known] }]);
    }),
    seeded(1_000),
  );
});

test('the longest of texts are read in no time', () => {
  const worst = ['"', '\\', '-', 'a:', ':', ',', '<', '9', '0-', ' ', '*', "'", 'x"'];
  const started = process.hrtime.bigint();
  for (const piece of worst) {
    for (const head of ['', 'key:', 'created:', 'retries:', 'key:"']) {
      const text = (head + piece.repeat(LENGTH_MAX)).slice(0, LENGTH_MAX);
      suggest(text, text.length);
      try {
        parseFilter(text);
      } catch (error) {
        expect(error).toBeInstanceOf(QueryError);
      }
    }
  }
  // 130 readings of 2,000 characters; a reading in square time would take ten times this.
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(5_000);
});
