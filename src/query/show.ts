/** From a filter to the text of it: parsed again it is the same filter. */
import { assertNever } from '../ground/index.ts';
import type { Filter, Term } from './filter.ts';
import { isSpace } from './lexer.ts';
import { showNumbers } from './numbers.ts';
import { showTimes } from './times.ts';

export function showFilter({ terms }: Filter): string {
  return terms.map(showTerm).join(' ');
}

export function showTerm(term: Term): string {
  return `${term.isNot ? '-' : ''}${bodyOf(term)}`;
}

function bodyOf(term: Term): string {
  switch (term.kind) {
    case 'text':
      return term.text.startsWith('-') ? quoted(term.text) : bareOrQuoted(term.text, ':');
    case 'words':
      return `${term.field}:${term.words.map(showWord).join(',')}`;
    case 'number':
      return `${term.field}:${showNumbers(term)}`;
    case 'time':
      return `${term.field}:${showTimes(term)}`;
    default:
      return assertNever(term);
  }
}

/** A word of a term, as it has to be written to be one. */
export function showWord(word: string): string {
  return bareOrQuoted(word, ',');
}

/** `special`: what would be taken for something else here, besides blanks and quotes. */
function bareOrQuoted(text: string, special: string): string {
  const isBare = [...text].every((each) => each !== '"' && each !== special && !isSpace(each));
  return isBare ? text : quoted(text);
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
