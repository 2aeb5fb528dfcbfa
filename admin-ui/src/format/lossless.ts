/** JSON in which no digit is lost: whole numbers beyond 2^53 are kept as what they were. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const LONG_NUMBER = /\d{16}/;

export function parseJson(text: string): unknown {
  // Looking at each value costs; hardly any text has such a number.
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  const keep: Reviver = (_key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && isWhole(context?.source)
      ? BigInt(context!.source!)
      : value;
  return JSON.parse(text, keep);
}

/** Whether a number of it has more digits than JavaScript keeps: it would be rounded on its way. */
export function isRounded(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(isRounded);
}

function isWhole(source: string | undefined): boolean {
  return source !== undefined && /^-?\d+$/.test(source);
}

/** Keys in their order; two blanks a level. */
export function showJson(value: unknown, indent = 2): string {
  const long: string[] = [];
  const marked = JSON.stringify(
    value,
    (_key, each: unknown) => {
      if (typeof each !== 'bigint') return each;
      long.push(`${each}`);
      return `\u0000${long.length - 1}\u0000`;
    },
    indent,
  );
  if (marked === undefined) return '';
  return marked.replaceAll(/"\\u0000(\d+)\\u0000"/g, (_all, index: string) => long[Number(index)]!);
}
