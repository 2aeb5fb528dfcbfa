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
  return !text.includes('\0') && !/\p{Cs}/u.test(text);
}

export function wordsOf(words: readonly string[]): Words {
  const storable = words.filter(isStorable);
  const isPrefix = (word: string) => word.endsWith('*');
  return {
    exact: storable.filter((word) => !isPrefix(word)),
    prefixes: storable.filter(isPrefix).map((word) => word.slice(0, -1)),
  };
}

/**
 * The first text, in the order of characters, after all those that begin like this; undefined where
 * there is none.
 */
export function afterAllOf(prefix: string): string | undefined {
  const characters = [...prefix];
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const next = last.codePointAt(0)! + 1;
    // Halves of characters are none, and nothing comes after the last one.
    if (next <= 0x10ffff) {
      return characters.join('') + String.fromCodePoint(next === 0xd800 ? 0xe000 : next);
    }
  }
  return undefined;
}
