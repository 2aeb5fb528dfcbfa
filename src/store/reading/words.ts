/** Words of a filter, as the tables can hold them. */

export interface Words {
  readonly exact: readonly string[];
  readonly prefixes: readonly string[];
}

/**
 * A word that no table can hold is the word of no row: NUL, and halves of characters, which a server
 * would take for another character.
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export function wordsOf(words: readonly string[]): Words {
  const storable = words.filter(isStorable);
  const isPrefix = (word: string) => word.endsWith('*');
  return {
    exact: storable.filter((word) => !isPrefix(word)),
    prefixes: storable.filter(isPrefix).map((word) => word.slice(0, -1)),
  };
}
