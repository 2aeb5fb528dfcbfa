/** One grammar for what people ask of lists, wherever they ask. */
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
