/** Rows of text in columns that line up, cut to the width of the terminal. */
import { stripVTControlCharacters } from 'node:util';
import { columnsOf, fitting } from './columns.ts';
import type { Paint, Style } from './paint.ts';

export interface Column<T> {
  /** Blanks around it keep the column wide, as long as nothing else needs the room. */
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
  const head = columns.map((column, i) => pad(column.head.trim(), widths[i]!, column.align));
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

/** What does not fit is taken from blanks first, and then from the widest elastic columns. */
function widthsOf<T>(
  columns: readonly Column<T>[],
  cells: readonly string[][],
  width: number,
): number[] {
  const needed = columns.map((column, i) =>
    Math.max(column.head.trim().length, ...cells.map((row) => columnsOf(row[i]!))),
  );
  const widths = columns.map((column, i) => Math.max(column.head.length, needed[i]!));
  const gaps = GAP.length * (columns.length - 1);
  let excess = widths.reduce((sum, each) => sum + each, gaps) - width;
  for (; excess > 0; excess--) {
    const blanks = widths.map((each, i) => each - needed[i]!);
    const elastic = widths.map((each, i) =>
      columns[i]!.isElastic && each > ELASTIC_MIN ? each : 0,
    );
    const i = largest(blanks) ?? largest(elastic);
    if (i === undefined) break;
    widths[i]! -= 1;
  }
  return widths;
}

/** Where the largest of them is; undefined where none is above zero. */
function largest(counts: readonly number[]): number | undefined {
  const most = Math.max(0, ...counts);
  return most > 0 ? counts.indexOf(most) : undefined;
}

/** Exactly `width` columns wide: filled with blanks, or cut with an ellipsis. */
export function pad(text: string, width: number, align?: 'right'): string {
  const isShort = columnsOf(text) <= width;
  const short = isShort ? text : `${fitting(text, Math.max(0, width - 1))}…`;
  const blanks = ' '.repeat(Math.max(0, width - columnsOf(short)));
  return align === 'right' ? blanks + short : short + blanks;
}

/** One line, and nothing in it that would move the cursor: reasons come from strangers. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
