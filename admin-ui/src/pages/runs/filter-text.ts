/** The text of a filter, taken apart and put together again by the grammar of the server. */
import {
  type Filter,
  parseFilter,
  QueryError,
  showTerm,
  type Term,
} from '../../../../src/query/index.ts';

export type Read =
  | { readonly kind: 'filter'; readonly filter: Filter; readonly terms: readonly Term[] }
  | { readonly kind: 'wrong'; readonly error: QueryError };

export function readFilter(text: string): Read {
  try {
    const filter = parseFilter(text);
    return { kind: 'filter', filter, terms: filter.terms };
  } catch (error) {
    if (error instanceof QueryError) return { kind: 'wrong', error };
    throw error;
  }
}

export function textOf(terms: readonly Term[]): string {
  return terms.map(showTerm).join(' ');
}

/** The one span of creation that a filter asks for, if it asks for one. */
export function createdIn(terms: readonly Term[]): Extract<Term, { kind: 'time' }> | undefined {
  const found = terms.filter(isOfCreation);
  return found.length === 1 && !found[0]!.isNot ? (found[0] as never) : undefined;
}

const isOfCreation = (term: Term) => term.kind === 'time' && term.field === 'created';

export function withoutCreated(terms: readonly Term[]): string {
  return textOf(terms.filter((term) => !isOfCreation(term)));
}

/** The filter with this span of creation, and no other. */
export function withCreated(terms: readonly Term[], fromMs: number, untilMs: number): string {
  const others = terms.filter((term) => !isOfCreation(term));
  const from = Math.floor(fromMs / 1_000) * 1_000;
  const until = Math.max(from + 1_000, Math.ceil(untilMs / 1_000) * 1_000);
  const created: Term = {
    kind: 'time',
    field: 'created',
    isNot: false,
    from: { at: from },
    until: { at: until },
  };
  return textOf([...others, created]);
}
