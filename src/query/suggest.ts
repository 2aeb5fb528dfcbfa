/** What could be typed next: for the search field of a page, and for a shell. Never refuses anything. */
import { FACTS, NUMBER_FIELDS, TIME_FIELDS } from './filter.ts';
import { isSpace, LENGTH_MAX } from './lexer.ts';
import { fold } from './matches.ts';
import { FIELDS } from './parse.ts';
import { showWord } from './show.ts';
import { wordsOf } from './vocabulary.ts';

/** Words that are known to occur: names of machines, of queues, of pods. */
export type KnownWords = Readonly<Record<string, readonly string[]>>;

export interface Suggestions {
  /** What is replaced by whichever is taken: from here on, up to before `until`. */
  readonly from: number;
  readonly until: number;
  readonly words: readonly string[];
}

const COUNT_MAX = 20;
/** Known words may be very many; those beyond are not looked at. */
const LOOKED_MAX = 10_000;
const AGES = ['<1h', '<24h', '<7d', '>1h', '>24h', '>7d'];
const COUNTS = ['>=1', '>=3', '0'];

export function suggest(text: string, caret: number, known: KnownWords = {}): Suggestions {
  const until = Math.max(0, Math.min(Math.trunc(caret) || 0, text.length, LENGTH_MAX));
  const { termFrom, wordFrom, field } = placeOf(text, until);
  const from = field === undefined ? termFrom : wordFrom;
  const typed = text.slice(from, until);
  if (field === undefined) {
    return {
      from,
      until,
      words: fitting(
        typed,
        FIELDS.map((name) => `${name}:`),
      ),
    };
  }
  const words = candidatesOf(field.toLowerCase(), known);
  return { from, until, words: fitting(typed.replaceAll('"', ''), words).map(showWord) };
}

interface Place {
  /** Behind the minus, if it has one. */
  readonly termFrom: number;
  /** Behind the last colon or comma that parts words. */
  readonly wordFrom: number;
  readonly field: string | undefined;
}

/** Reads as the lexer does, but ends at the caret, in whatever it stands. */
function placeOf(text: string, until: number): Place {
  let [termFrom, wordFrom, isQuoted, wasQuoted] = [0, 0, false, false];
  let field: string | undefined;
  for (let at = 0; at < until; at++) {
    const character = text[at]!;
    if (isQuoted) {
      if (character === '\\') at++;
      else if (character === '"') isQuoted = false;
    } else if (isSpace(character)) {
      [termFrom, wordFrom, field, wasQuoted] = [at + 1, at + 1, undefined, false];
    } else if (character === '"') {
      [isQuoted, wasQuoted] = [true, true];
    } else if (character === '-' && at === termFrom && (at === 0 || isSpace(text[at - 1]!))) {
      [termFrom, wordFrom] = [at + 1, at + 1];
    } else if (character === ':' && field === undefined && !wasQuoted) {
      field = text.slice(termFrom, at);
      wordFrom = at + 1;
    } else if (character === ',' && field !== undefined) wordFrom = at + 1;
  }
  return { termFrom, wordFrom, field };
}

function candidatesOf(field: string, known: KnownWords): readonly string[] {
  if (field === 'is') return FACTS;
  if ((TIME_FIELDS as readonly string[]).includes(field)) return AGES;
  if ((NUMBER_FIELDS as readonly string[]).includes(field)) return COUNTS;
  if (!FIELDS.includes(field)) return [];
  const given = Object.hasOwn(known, field) ? known[field] : undefined;
  return given ?? wordsOf(field) ?? [];
}

/** Those that begin like it come before those that have it inside. */
function fitting(typed: string, words: readonly string[]): string[] {
  const wanted = fold(typed);
  const looked = words.slice(0, LOOKED_MAX).filter((word) => word !== '');
  const begins = looked.filter((word) => fold(word).startsWith(wanted));
  const has = looked.filter((word) => fold(word).includes(wanted));
  return [...new Set([...begins, ...has])].slice(0, COUNT_MAX);
}
