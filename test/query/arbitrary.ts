/** Any filter that can be written, as data. */
import * as fc from 'fast-check';
import {
  FACTS,
  type Filter,
  NUMBER_FIELDS,
  OUTCOMES,
  STATUSES,
  type Term,
  TIME_FIELDS,
  WAITS,
  type When,
  WORD_FIELDS,
  type WordField,
} from '../../src/query/index.ts';

const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
  fc.string({ unit: fc.constantFrom(...'a:,"\\ -*.<>\t\n'), minLength: 1, maxLength: 8 }),
);
const words = (of: fc.Arbitrary<string>) => fc.array(of, { minLength: 1, maxLength: 4 });

const WORDS: Partial<Record<WordField, fc.Arbitrary<string>>> = {
  status: fc.constantFrom(...STATUSES, 'fail*', '*'),
  outcome: fc.constantFrom(...OUTCOMES),
  wait: fc.constantFrom(...WAITS),
  is: fc.constantFrom(...FACTS),
  version: fc.nat().map(String),
  error: fc.oneof(word, fc.constant('0123456789abcdef')),
};

const wordTerm = fc.constantFrom(...WORD_FIELDS).chain((field) =>
  fc.record({
    kind: fc.constant('words' as const),
    field: fc.constant(field),
    isNot: fc.boolean(),
    words: words(WORDS[field] ?? word),
  }),
);

const count = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.maxSafeInteger()).map((n) => n % 1e15);

/** One end at least, the first not above the last. */
function span<T>(of: fc.Arbitrary<T>, isSpan: (from: T, until: T) => boolean) {
  return fc.oneof(
    of.map((from) => ({ from, until: undefined })),
    of.map((until) => ({ from: undefined, until })),
    fc
      .tuple(of, of)
      .filter(([a, b]) => isSpan(a, b))
      .map(([from, until]) => ({ from, until })),
  );
}

const numberTerm = fc
  .record({
    kind: fc.constant('number' as const),
    field: fc.constantFrom(...NUMBER_FIELDS),
    isNot: fc.boolean(),
    span: span(
      count.map((n) => n + 0),
      (a, b) => a <= b,
    ),
  })
  .map(({ span: ends, ...term }) => ({ ...term, ...ends }));

const UNITS = [1, 1_000, 60_000, 3_600_000, 86_400_000, 604_800_000];
const when: fc.Arbitrary<When> = fc.oneof(
  fc
    .tuple(fc.integer({ min: -500, max: 500 }), fc.constantFrom(...UNITS))
    .map(([n, unit]) => ({ agoMs: n * unit + 0 })),
  fc
    .tuple(fc.integer({ min: 0, max: 2 ** 32 }), fc.constantFrom(...UNITS))
    .map(([n, unit]) => ({ at: (n * unit) % 4_000_000_000_000 })),
);

function isTimeSpan(from: When, until: When): boolean {
  if ('at' in from && 'at' in until) return from.at < until.at;
  return !('agoMs' in from && 'agoMs' in until) || from.agoMs > until.agoMs;
}

const timeTerm = fc
  .record({
    kind: fc.constant('time' as const),
    field: fc.constantFrom(...TIME_FIELDS),
    isNot: fc.boolean(),
    span: span(when, isTimeSpan),
  })
  .map(({ span: ends, ...term }) => ({ ...term, ...ends }));

const textTerm = fc.record({
  kind: fc.constant('text' as const),
  isNot: fc.boolean(),
  text: word,
});

export const term: fc.Arbitrary<Term> = fc.oneof(wordTerm, numberTerm, timeTerm, textTerm);
export const filter: fc.Arbitrary<Filter> = fc
  .array(term, { maxLength: 10 })
  .map((terms) => ({ terms }));
