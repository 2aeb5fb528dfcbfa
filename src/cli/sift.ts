/**
 * Looks for what a filter wants where nobody can be asked for it by index: page by page, newest first,
 * up to a bound, and says where to go on.
 */

/** Answers up to so many of what is older than `before`. */
export type ReadPage<T> = (before: string | undefined, countMax: number) => Promise<readonly T[]>;

export interface Sifting {
  readonly before: string | undefined;
  readonly countMax: number;
  /** Whoever answers looks for some of it already: then nothing is read in vain. */
  readonly isExact: boolean;
}

export interface Sifted<T> {
  readonly found: readonly T[];
  /** The last that was looked at, where the bound was reached before enough was found. */
  readonly lookedUntil: string | undefined;
}

const PAGE_COUNT = 200;
/** A filter that hardly anything fits must not read everything there is. */
export const LOOKED_MAX = 20_000;

export async function sift<T extends { readonly id: string }>(
  read: ReadPage<T>,
  keep: (one: T) => boolean,
  { before: from, countMax, isExact }: Sifting,
): Promise<Sifted<T>> {
  const pageCount = isExact ? countMax : PAGE_COUNT;
  const found: T[] = [];
  let before = from;
  for (let looked = 0; looked < LOOKED_MAX; looked += pageCount) {
    const page = await read(before, pageCount);
    found.push(...page.filter(keep));
    if (found.length >= countMax || page.length < pageCount) {
      return { found: found.slice(0, countMax), lookedUntil: undefined };
    }
    before = page.at(-1)!.id;
  }
  return { found, lookedUntil: before };
}

/** For people; programs get `lookedUntil`. */
export function siftedNote(lookedUntil: string): string {
  return `the newest ${LOOKED_MAX} were looked at; go on with: --before ${lookedUntil}`;
}
