/**
 * What a store looks for where a text is wanted. Only the letters A to Z have two cases here, in every
 * store alike. Errors are stored as JSON, in which some characters stand for themselves in more than
 * one way; so there it looks for a part of the text that stands for itself, and lets through whatever
 * is written in numbers.
 */
import { fold } from '../../query/index.ts';

export interface Wanted {
  /** Of the id, the machine and the key. */
  readonly text: string;
  /** Of the error as it is stored; empty: any error may hold it. */
  readonly inError: string;
}

/** The beginning of a character that is written as a number. */
export const ESCAPE = '\\u';

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON writes these in other ways.
const ESCAPED = /["\\/\u0000-\u001f]/;

export function wantedOf(text: string): Wanted {
  const folded = fold(text);
  const runs = folded.split(ESCAPED);
  return {
    text: folded,
    inError: runs.reduce((best, run) => (run.length > best.length ? run : best), ''),
  };
}

/** So much of an error is shown and searched: what comes after is one question away. */
export const ERROR_CHARACTERS_MAX = 65_536;

/** As the SQL stores cut it: by characters, and not by halves of them. */
export function cutError(error: string | undefined): string | undefined {
  if (error === undefined || error.length <= ERROR_CHARACTERS_MAX) return error;
  let cut = '';
  let count = 0;
  for (const character of error) {
    if (count === ERROR_CHARACTERS_MAX) break;
    cut += character;
    count += 1;
  }
  return cut;
}
