/** Rows of text in columns that line up, cut to the width of the terminal. */
import { stripVTControlCharacters } from 'node:util';
import type { Paint, Style } from './output.ts';

export interface Column<T> {
  readonly head: string;
  readonly text: (row: T) => string;
  readonly align?: 'right';
  readonly style?: (row: T) => Style | undefined;
  /** May be cut where the terminal is too narrow. */
  readonly isElastic?: boolean;
}

const GAP = '  ';

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
  return rows.map((row) => columns.map((column) => plain(column.text(row))).join('\t')).join('\n');
}

/** The natural width of each column, less what does not fit, taken from the elastic ones. */
function widthsOf<T>(
  columns: readonly Column<T>[],
  cells: readonly string[][],
  width: number,
): number[] {
  const widths = columns.map((column, i) =>
    Math.max(column.head.length, ...cells.map((row) => row[i]!.length)),
  );
  let excess =
    widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1) - width;
  for (const [i, column] of columns.entries()) {
    if (excess <= 0 || !column.isElastic) continue;
    const cut = Math.min(excess, Math.max(0, widths[i]! - Math.max(column.head.length, 8)));
    widths[i]! -= cut;
    excess -= cut;
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
