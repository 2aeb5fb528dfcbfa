/** One grammar for what people ask of lists, wherever they ask. */
export { QueryError, type Spot } from './errors.ts';
export {
  EVERYTHING,
  FACTS,
  type Fact,
  type Filter,
  NUMBER_FIELDS,
  type NumberField,
  type NumberTerm,
  type Term,
  type TextTerm,
  TIME_FIELDS,
  type TimeField,
  type TimeTerm,
  type When,
  WORD_FIELDS,
  type WordField,
  type WordTerm,
} from './filter.ts';
export {
  essenceOf,
  type Failure,
  type FailureOf,
  failureOf,
  fingerprintOf,
  isFingerprint,
  namesOf,
} from './fingerprint.ts';
export { LENGTH_MAX, TERMS_MAX, WORDS_MAX } from './lexer.ts';
export { errorFits, type Facts, fold, instantOf, matches, wordFits } from './matches.ts';
export { FIELDS, parseFilter } from './parse.ts';
export { showFilter, showTerm } from './show.ts';
export { type KnownWords, type Suggestions, suggest } from './suggest.ts';
export { OUTCOMES, STATUSES, WAITS, wordsOf } from './vocabulary.ts';
