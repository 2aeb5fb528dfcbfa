/**
 * How wide text is on a terminal, which is not how long it is: names are others' and may be in any script.
 * What an East Asian reader sees as square, and pictures, take two columns; marks upon a letter take none.
 */

/** What a reader takes for one character: a letter with its marks, a flag, a family. */
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Marks, joiners and whatever else is not seen by itself. */
const UNSEEN = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u;
/** Drawn as a picture: by itself, or since the sign for it follows. */
const PICTURE = /^\p{Emoji_Presentation}|^\p{Emoji}.*\ufe0f/u;
/** First and last of those that are square wherever they stand, as Unicode has laid them out in blocks. */
const SQUARE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18df2],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];
/** Nothing in it is anything but one column wide. */
const PLAIN = /^[ -~]*$/;

export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of CHARACTERS.segment(text)) columns += columnsOfOne(segment);
  return columns;
}

/** As many of its characters, from the first one on, as that many columns hold. */
export function fitting(text: string, columnsMax: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, columnsMax));
  let columns = 0;
  for (const { segment, index } of CHARACTERS.segment(text)) {
    columns += columnsOfOne(segment);
    if (columns > columnsMax) return text.slice(0, index);
  }
  return text;
}

function columnsOfOne(character: string): number {
  if (UNSEEN.test(character)) return 0;
  const code = character.codePointAt(0)!;
  const isSquare = SQUARE.some(([first, last]) => code >= first && code <= last);
  return isSquare || PICTURE.test(character) ? 2 : 1;
}
