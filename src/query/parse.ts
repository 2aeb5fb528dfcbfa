/** From text to a filter; whatever is wrong is told with its place, what was wanted, and what was meant. */
import { nearest, show } from '../ground/index.ts';
import { QueryError } from './errors.ts';
import {
  type Filter,
  NUMBER_FIELDS,
  type NumberField,
  type Term,
  TIME_FIELDS,
  type TimeField,
  WORD_FIELDS,
  type WordField,
} from './filter.ts';
import { type RawTerm, readTerms, type Word } from './lexer.ts';
import { NUMBER_WANTED, parseNumbers } from './numbers.ts';
import { parseTimes, TIME_WANTED } from './times.ts';
import { wordsOf } from './vocabulary.ts';

export const FIELDS: readonly string[] = [...WORD_FIELDS, ...NUMBER_FIELDS, ...TIME_FIELDS];

/** Throws a QueryError, and nothing else, where the text is no filter. */
export function parseFilter(text: string): Filter {
  return { terms: readTerms(text).map(termOf) };
}

function termOf({ isNot, field, words }: RawTerm): Term {
  if (!field) return { kind: 'text', isNot, text: words[0]!.text };
  const name = field.text.toLowerCase();
  if (isOneOf(WORD_FIELDS, name)) return wordTerm(name, isNot, words);
  if (isOneOf(NUMBER_FIELDS, name)) return numberTerm(name, isNot, words);
  if (isOneOf(TIME_FIELDS, name)) return timeTerm(name, isNot, words);
  throw unknownField(field);
}

function isOneOf<T extends string>(known: readonly T[], name: string): name is T {
  return (known as readonly string[]).includes(name);
}

function unknownField(field: Word): QueryError {
  const near = nearest(field.text, FIELDS);
  return new QueryError(field, `there is no field ${show(field.text)}`, {
    hint:
      `${near === undefined ? '' : `did you mean ${near}? `}fields are ${FIELDS.join(', ')}; ` +
      'text with a colon is looked for when it is quoted',
  });
}

function wordTerm(field: WordField, isNot: boolean, words: readonly Word[]): Term {
  return { kind: 'words', field, isNot, words: words.map((word) => wordOf(field, word)) };
}

function wordOf(field: WordField, word: Word): string {
  if (field === 'version' && !/^\d{1,15}$/.test(word.text)) {
    throw new QueryError(word, `version must be a whole number, got ${show(word.text)}`);
  }
  const known = wordsOf(field);
  return known ? knownWord(field, known, word) : word.text;
}

/** However its letters are typed; or everything that begins like it. */
function knownWord(field: WordField, known: readonly string[], word: Word): string {
  const lower = word.text.toLowerCase();
  const found = known.find((each) => each.toLowerCase() === lower);
  if (found !== undefined) return found;
  const start = word.text.slice(0, -1);
  if (word.text.endsWith('*') && known.some((each) => each.startsWith(start))) return word.text;
  const near = nearest(word.text, known);
  throw new QueryError(
    word,
    `${field} must be one of ${known.join(', ')}, got ${show(word.text)}`,
    {
      hint: near && `did you mean ${field}:${near}?`,
    },
  );
}

function numberTerm(field: NumberField, isNot: boolean, words: readonly Word[]): Term {
  const span = parseNumbers(onlyWord(field, words).text);
  if (!span) throw unfit(field, words[0]!, NUMBER_WANTED);
  return { kind: 'number', field, isNot, ...span };
}

function timeTerm(field: TimeField, isNot: boolean, words: readonly Word[]): Term {
  const span = parseTimes(onlyWord(field, words).text);
  if (!span) throw unfit(field, words[0]!, TIME_WANTED);
  return { kind: 'time', field, isNot, ...span };
}

function onlyWord(field: string, words: readonly Word[]): Word {
  const [first, second] = words;
  if (!second) return first!;
  throw new QueryError(second, `${field} takes one value, got ${words.length}`, {
    hint: `write a span such as ${field}:2..5, or ask twice`,
  });
}

function unfit(field: string, word: Word, wanted: string): QueryError {
  return new QueryError(word, `${field} wants ${wanted}; got ${show(word.text)}`);
}
