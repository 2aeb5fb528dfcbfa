/**
 * From characters to terms that are not understood yet: a sign, a field, and words with their places.
 * Reads each character once.
 *
 *   -machine:resize,"my thumbs"*      "no such bucket"
 *   ^sign    ^word   ^word                ^text: no field
 */
import { QueryError, type Spot } from './errors.ts';

/** What anybody would type, and no more than a request's address can hold. */
export const LENGTH_MAX = 2_000;
export const TERMS_MAX = 50;
export const WORDS_MAX = 100;

export interface Word extends Spot {
  readonly text: string;
}

export interface RawTerm extends Spot {
  readonly isNot: boolean;
  /** Undefined where it is text to be looked for; that is one word then. */
  readonly field: Word | undefined;
  readonly words: readonly Word[];
}

export function readTerms(text: string): RawTerm[] {
  if (text.length > LENGTH_MAX) {
    throw new QueryError(
      { from: LENGTH_MAX, until: text.length },
      `it is longer than ${LENGTH_MAX} characters`,
    );
  }
  const lexer = new Lexer(text);
  const terms: RawTerm[] = [];
  let wordCount = 0;
  for (let term = lexer.next(); term; term = lexer.next()) {
    terms.push(term);
    wordCount += term.words.length;
    if (terms.length > TERMS_MAX) throw new QueryError(term, `it has more than ${TERMS_MAX} terms`);
    if (wordCount > WORDS_MAX) throw new QueryError(term, `it has more than ${WORDS_MAX} words`);
  }
  return terms;
}

const SPACE = /\s/;

export function isSpace(character: string): boolean {
  return SPACE.test(character);
}

class Lexer {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): RawTerm | undefined {
    while (this.#at < this.#text.length && isSpace(this.#text[this.#at]!)) this.#at++;
    if (this.#at === this.#text.length) return undefined;
    const from = this.#at;
    const isNot = this.#text[from] === '-';
    if (isNot) this.#at++;
    if (this.#isOver()) {
      throw new QueryError({ from, until: this.#at }, 'a minus stands alone', {
        hint: 'write it before a term, as in -status:failed; or quote it: "-"',
      });
    }
    const field = this.#field();
    const words = field ? this.#words(field) : [this.#word('')];
    const term = { isNot, field, words, from, until: this.#at };
    if (!field && words[0]!.text === '') throw new QueryError(term, 'there is no text to look for');
    return term;
  }

  /** What stands before a colon, if one comes before anything else does. */
  #field(): Word | undefined {
    const from = this.#at;
    let until = from;
    while (until < this.#text.length && !isSpace(this.#text[until]!)) {
      const character = this.#text[until]!;
      if (character === '"') return undefined;
      if (character === ':') {
        this.#at = until + 1;
        return { text: this.#text.slice(from, until), from, until };
      }
      until++;
    }
    return undefined;
  }

  #words(field: Word): Word[] {
    const words: Word[] = [];
    do {
      if (words.length > 0) this.#at++;
      const word = this.#word(',');
      if (word.text === '') {
        throw new QueryError(
          word,
          `a word is missing after ${this.#text.slice(field.from, this.#at)}`,
          {
            hint: 'write it behind the colon or the comma, without a blank before it',
          },
        );
      }
      words.push(word);
    } while (this.#text[this.#at] === ',');
    return words;
  }

  /** Bare and quoted pieces side by side, up to a blank or `stop`. */
  #word(stop: string): Word {
    const from = this.#at;
    let text = '';
    while (!this.#isOver() && this.#text[this.#at] !== stop) {
      if (this.#text[this.#at] === '"') text += this.#quoted();
      else text += this.#text[this.#at++];
    }
    return { text, from, until: this.#at };
  }

  #quoted(): string {
    const from = this.#at++;
    let text = '';
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at++]!;
      if (character === '"') return text;
      const next = this.#text[this.#at];
      const isEscape = character === '\\' && (next === '"' || next === '\\');
      text += isEscape ? next : character;
      if (isEscape) this.#at++;
    }
    throw new QueryError({ from, until: this.#at }, 'a quote is not closed', {
      hint: 'end it with ", and write \\" for a quote inside',
    });
  }

  #isOver(): boolean {
    return this.#at === this.#text.length || isSpace(this.#text[this.#at]!);
  }
}
