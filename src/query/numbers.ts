/** Counts as people type them: 3, >=3, <3, 2..5, 2.., ..5; and back. Both ends are included. */

export interface NumberSpan {
  readonly from: number | undefined;
  readonly until: number | undefined;
}

export const NUMBER_WANTED = 'a whole number, or a span of them such as >=3, <10, 2..5 or 3..';

/** Undefined where it is none, or where nothing could be in it. */
export function parseNumbers(text: string): NumberSpan | undefined {
  const span = spanOf(text);
  if (!span) return undefined;
  const { from, until } = span;
  const isEmpty = from !== undefined && until !== undefined && from > until;
  return isEmpty || (from === undefined && until === undefined) ? undefined : span;
}

function spanOf(text: string): NumberSpan | undefined {
  const dots = text.indexOf('..');
  if (dots >= 0) {
    const [from, until] = [text.slice(0, dots), text.slice(dots + 2)].map(endOf);
    return from === 'none' || until === 'none' ? undefined : { from, until };
  }
  const [, sign, digits] = /^(<=|>=|<|>|)(.+)$/s.exec(text) ?? [];
  const value = endOf(digits ?? '');
  if (value === undefined || value === 'none') return undefined;
  switch (sign) {
    case '<':
      return { from: undefined, until: value - 1 };
    case '<=':
      return { from: undefined, until: value };
    case '>':
      return { from: value + 1, until: undefined };
    case '>=':
      return { from: value, until: undefined };
    default:
      return { from: value, until: value };
  }
}

/** Fifteen digits: one more or less is still a number that is exact. */
function endOf(text: string): number | undefined | 'none' {
  if (text === '') return undefined;
  // Minus zero is no count of its own.
  return /^-?\d{1,15}$/.test(text) ? Number(text) + 0 : 'none';
}

export function showNumbers({ from, until }: NumberSpan): string {
  if (from === until) return `${from}`;
  if (until === undefined) return `>=${from}`;
  return from === undefined ? `<=${until}` : `${from}..${until}`;
}
