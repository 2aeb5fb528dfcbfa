/**
 * What people ask of a list of tasks, as data: all terms hold at once. The same words are typed at the
 * command line, in the address of a request and in the search field of a page.
 *
 *   machine:resize-image,thumbs  -queue:slow  status:failed  created:>2h  retries:>=3  "no such bucket"
 */

/** Fields of which a task has one word; several words of a term are alternatives. */
export const WORD_FIELDS = [
  'id',
  'machine',
  'version',
  'status',
  'outcome',
  'queue',
  'pod',
  'key',
  'wait',
  'error',
  'is',
] as const;
export type WordField = (typeof WORD_FIELDS)[number];

/** Fields that are counted. */
export const NUMBER_FIELDS = ['priority', 'retries', 'crashes', 'claims', 'generation'] as const;
export type NumberField = (typeof NUMBER_FIELDS)[number];

/** Fields that are instants. */
export const TIME_FIELDS = ['created', 'updated', 'finished', 'due'] as const;
export type TimeField = (typeof TIME_FIELDS)[number];

/** Facts that are told by `is:`. */
export const FACTS = [
  'unfinished',
  'finished',
  'paused',
  'suspect',
  'pinned',
  'blocked',
  'dead-letter',
  'discarded',
] as const;
export type Fact = (typeof FACTS)[number];

export interface WordTerm {
  readonly kind: 'words';
  readonly field: WordField;
  readonly isNot: boolean;
  /** One at least. A word that ends in * stands for everything that begins with it. */
  readonly words: readonly string[];
  /** A fingerprint is one of its name and code, for those who may not see what an error says. */
  readonly isOfNames?: boolean | undefined;
}

export interface NumberTerm {
  readonly kind: 'number';
  readonly field: NumberField;
  readonly isNot: boolean;
  /** Both included. */
  readonly from: number | undefined;
  readonly until: number | undefined;
}

/** An instant as it was typed: so long ago, or a time. It is made one when the question is asked. */
export type When = { readonly agoMs: number } | { readonly at: number };

export interface TimeTerm {
  readonly kind: 'time';
  readonly field: TimeField;
  readonly isNot: boolean;
  /** Not before this. */
  readonly from: When | undefined;
  /** Before this. */
  readonly until: When | undefined;
}

/** Looked for in the id, the machine, the key and the error, whatever the case of its letters. */
export interface TextTerm {
  readonly kind: 'text';
  readonly isNot: boolean;
  readonly text: string;
  /** Of an error only its name and code, for those who may not see what it says. */
  readonly isOfNames?: boolean | undefined;
}

export type Term = WordTerm | NumberTerm | TimeTerm | TextTerm;

export interface Filter {
  readonly terms: readonly Term[];
}

export const EVERYTHING: Filter = { terms: [] };
