/** Rows of text in columns that line up, cut to the width of the terminal. */
import { stripVTControlCharacters } from 'node:util';
import type { Paint, Style } from './output.ts';

export interface Column<T> {
  readonly head: string;
  readonly text: (row: T) => string;
  /** For programs, where that is more than a person has room for. */
  readonly data?: (row: T) => string;
  readonly align?: 'right';
  readonly style?: (row: T) => Style | undefined;
  /** May be cut where the terminal is too narrow. */
  readonly isElastic?: boolean;
}

const GAP = '  ';
const ELASTIC_MIN = 8;

export function tableText<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  width: number,
  paint: Paint,
): string {
  const cells = rows.map((row) => columns.map((column) => plain(column.text(row))));
  const widths = widthsOf(columns, cells, width);
  const head = columns.map((column, i) => pad(column.head, widths[i]!, column.align));
  const lines = cells.map((texts, r) =>
    texts.map((text, i) => {
      const cell = pad(text, widths[i]!, columns[i]!.align);
      const style = columns[i]!.style?.(rows[r]!);
      return style ? paint(style, cell) : cell;
    }),
  );
  return [
    paint('gray', head.join(GAP).trimEnd()),
    ...lines.map((line) => line.join(GAP).trimEnd()),
  ].join('\n');
}

export function tsvText<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  return rows
    .map((row) => columns.map(({ text, data }) => plain((data ?? text)(row))).join('\t'))
    .join('\n');
}

/** The natural width of each column; what does not fit is taken from the widest elastic ones. */
function widthsOf<T>(
  columns: readonly Column<T>[],
  cells: readonly string[][],
  width: number,
): number[] {
  const widths = columns.map((column, i) =>
    Math.max(column.head.length, ...cells.map((row) => row[i]!.length)),
  );
  const gaps = GAP.length * (columns.length - 1);
  let excess = widths.reduce((sum, each) => sum + each, gaps) - width;
  for (; excess > 0; excess--) {
    const widest = columns
      .map((column, i) => ({ i, isElastic: column.isElastic, width: widths[i]! }))
      .filter((column) => column.isElastic && column.width > ELASTIC_MIN)
      .sort((one, other) => other.width - one.width)[0];
    if (!widest) break;
    widths[widest.i]! -= 1;
  }
  return widths;
}

/** Exactly `width` wide: filled with blanks, or cut with an ellipsis. */
export function pad(text: string, width: number, align?: 'right'): string {
  const short = text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
  return align === 'right' ? short.padStart(width) : short.padEnd(width);
}

/** One line, and nothing in it that would move the cursor: reasons come from strangers. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
