/**
 * Whether a filter holds of something, from facts alone: for journals, for what is in memory, and for
 * what has just happened. Stores that ask by SQL answer the same.
 */
import { assertNever } from '../ground/index.ts';
import type {
  Fact,
  Filter,
  NumberField,
  NumberTerm,
  Term,
  TextTerm,
  TimeField,
  TimeTerm,
  When,
  WordField,
  WordTerm,
} from './filter.ts';
import { type Failure, fingerprintOf, isFingerprint, namesOf } from './fingerprint.ts';

/** What is known of a task or a run; what is not known does not match, whatever is asked of it. */
export type Facts = {
  readonly [field in Exclude<WordField, 'version' | 'error' | 'is'>]?: string | undefined;
} & { readonly [field in NumberField | TimeField]?: number | undefined } & {
  readonly id: string;
  readonly machine: string;
  readonly version?: number | undefined;
  readonly error?: Failure | undefined;
  readonly is: readonly Fact[];
};

export function matches(filter: Filter, facts: Facts, nowMs: number): boolean {
  return filter.terms.every((term) => holds(term, facts, nowMs) !== term.isNot);
}

/** As if it had no minus. */
function holds(term: Term, facts: Facts, nowMs: number): boolean {
  switch (term.kind) {
    case 'words':
      return wordsHold(term, facts);
    case 'number':
      return numberHolds(term, facts[term.field]);
    case 'time':
      return timeHolds(term, facts[term.field], nowMs);
    case 'text':
      return textHolds(term, facts);
    default:
      return assertNever(term);
  }
}

function wordsHold({ field, words, isOfNames }: WordTerm, facts: Facts): boolean {
  switch (field) {
    case 'is':
      return words.some((word) => facts.is.some((fact) => wordFits(word, fact)));
    case 'error':
      return words.some((word) => errorFits(word, facts.machine, shownOf(facts.error, isOfNames)));
    case 'version':
      return words.includes(`${facts.version}`);
    default: {
      const value = facts[field];
      return value !== undefined && words.some((word) => wordFits(word, value));
    }
  }
}

/** Letter for letter; a star at the end stands for the rest. */
export function wordFits(word: string, value: string): boolean {
  return word.endsWith('*') ? value.startsWith(word.slice(0, -1)) : value === word;
}

function shownOf(error: Failure | undefined, isOfNames = false): Failure | undefined {
  return error && isOfNames ? namesOf(error) : error;
}

/** A fingerprint, or something that stands in the code or the name; with a star, at its beginning. */
export function errorFits(word: string, machine: string, error: Failure | undefined): boolean {
  if (error === undefined) return false;
  if (isFingerprint(word)) return fingerprintOf({ machine, ...error }) === word;
  const wanted = fold(word);
  return [error.code, error.name].some((said) => {
    if (said === undefined) return false;
    return word.endsWith('*') ? fold(said).startsWith(wanted.slice(0, -1)) : has(said, wanted);
  });
}

function numberHolds({ from, until }: NumberTerm, value: number | undefined): boolean {
  if (value === undefined) return false;
  return value >= (from ?? value) && value <= (until ?? value);
}

function timeHolds({ from, until }: TimeTerm, value: number | undefined, nowMs: number): boolean {
  if (value === undefined) return false;
  if (from !== undefined && value < instantOf(from, nowMs)) return false;
  return until === undefined || value < instantOf(until, nowMs);
}

export function instantOf(when: When, nowMs: number): number {
  return 'at' in when ? when.at : nowMs - when.agoMs;
}

function textHolds({ text, isOfNames }: TextTerm, { id, machine, key, error }: Facts): boolean {
  const wanted = fold(text);
  const message = isOfNames ? undefined : error?.message;
  const said = [id, machine, key, error?.code, error?.name, message];
  return said.some((each) => each !== undefined && has(each, wanted));
}

function has(said: string, wanted: string): boolean {
  return fold(said).includes(wanted);
}

/**
 * Without regard to the case of A to Z; other letters are themselves. So it is the same in every
 * store: their own ways with case differ beyond these.
 */
export function fold(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
