/** The filter that a command was given: its words, and what its flags say in addition. */
import { nearest, show } from '../ground/index.ts';
import { type Filter, parseFilter, type Term, type WordField, wordsOf } from '../query/index.ts';
import { UsageError } from './errors.ts';

/**
 * Words of a command line are one text. A term with a minus looks like an option, and so the options
 * that are none come along with the words: those with two of them were meant as such.
 */
export function readFilter(words: readonly string[], options: readonly string[]): Filter {
  const stray = words.find((word) => word.startsWith('--'));
  if (stray === undefined) return parseFilter(words.join(' '));
  const name = stray.split('=')[0]!;
  const near = nearest(name, options);
  throw new UsageError(`there is no option ${show(name)}`, {
    hint: near ? `did you mean ${near}?` : 'quote what is text of a filter: \'"--like this"\'',
  });
}

export function termOf(field: WordField, word: string): Term {
  return { kind: 'words', field, isNot: false, words: [word] };
}

/** The one word that a field must be, where a filter asks for exactly one. */
export function wordAsked({ terms }: Filter, field: WordField): string | undefined {
  for (const term of terms) {
    if (term.kind !== 'words' || term.field !== field || term.isNot) continue;
    const [word] = term.words;
    if (term.words.length === 1 && !word!.endsWith('*')) return word;
  }
  return undefined;
}

/** Statuses that nothing can have here are a mistake, and not a list that is empty. */
export function refuseStatuses({ terms }: Filter, possible: readonly string[], what: string): void {
  for (const term of terms) {
    if (term.kind !== 'words' || term.field !== 'status') continue;
    const wrong = term.words.find((word) => !word.endsWith('*') && !possible.includes(word));
    if (wrong === undefined) continue;
    throw new UsageError(`${what} is never ${wrong}: its status is one of ${possible.join(', ')}`, {
      hint: HINTS[wrong] ?? hintOf(wrong),
    });
  }
}

const HINTS: Readonly<Record<string, string>> = {
  pending: 'tasks of the fleet are listed where a store is configured, without --local',
  claimed: 'tasks of the fleet are listed where a store is configured, without --local',
};

/** What is no status here may be told by another field; else it is one of runs of a host. */
function hintOf(word: string): string {
  const field = (['is', 'outcome'] as const).find((each) => wordsOf(each)?.includes(word));
  return field ? `ask for ${field}:${word}` : 'runs of this host alone are listed with --local';
}
