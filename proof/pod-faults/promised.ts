/** What was promised, and what was seen of it. */
export interface Promised {
  readonly what: string;
  readonly wanted: string;
  readonly seen: string | number | boolean;
  readonly isKept: boolean;
}

export const exactly = (
  what: string,
  wanted: number | boolean,
  seen: number | boolean,
): Promised => ({
  what,
  wanted: `${wanted}`,
  seen,
  isKept: seen === wanted,
});

/** `undefined`: it never came to that while it was watched. */
export const atMost = (what: string, max: number, seen: number | undefined): Promised => ({
  what,
  wanted: `<= ${max}`,
  seen: seen ?? 'never',
  isKept: seen !== undefined && seen <= max,
});

export const atLeast = (what: string, min: number, seen: number): Promised => ({
  what,
  wanted: `>= ${min}`,
  seen,
  isKept: seen >= min,
});

export const says = (what: string, wanted: RegExp, seen: string | undefined): Promised => ({
  what,
  wanted: `${wanted}`,
  seen: (seen ?? 'nothing').slice(0, 160),
  isKept: wanted.test(seen ?? ''),
});
