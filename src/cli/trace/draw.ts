/**
 * Rows as text: the tree at the left, how long each took, and a bar on the run's own time axis at the
 * right, as wide as the terminal allows. Nothing of it is wider than that.
 */
import { columnsOf } from '../columns.ts';
import type { Paint } from '../paint.ts';
import { pad } from '../table.ts';
import type { Glyphs } from './glyphs.ts';
import type { Bar, Row } from './rows.ts';

export interface Canvas {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly paint: Paint;
}

export interface Axis {
  readonly from: number;
  readonly to: number;
}

const TOOK_WIDTH = 8;
const BAR_MIN = 6;
const BAR_MAX = 80;
const LABEL_MIN = 16;
/** Of the width, before the bar has its part. */
const LABEL_SHARE = 0.55;
const GAP = '  ';

export function drawRows(rows: readonly Row[], axis: Axis, canvas: Canvas): string[] {
  const hasPods = rows.some(({ pod }) => pod !== undefined);
  const podWidth = hasPods ? Math.max(...rows.map(({ pod }) => columnsOf(pod ?? ''))) : 0;
  const fixed = TOOK_WIDTH + GAP.length + (hasPods ? podWidth + 1 : 0) + 1;
  const wanted = Math.max(LABEL_MIN, ...rows.map(widthOf));
  const labelMax = Math.max(LABEL_MIN, Math.floor(canvas.width * LABEL_SHARE));
  const labelWidth = Math.min(wanted, labelMax, canvas.width - fixed - BAR_MIN);
  const barWidth = Math.max(0, Math.min(BAR_MAX, canvas.width - labelWidth - fixed));
  return rows.map((row) => drawRow(row, axis, { ...canvas, labelWidth, podWidth, barWidth }));
}

/** How often what was thrown is told where there is room for it, and makes none. */
function widthOf({ lead, label, note, bar }: Row): number {
  return lead.length + columnsOf(textOf(label, bar.of === 'many' ? '' : note));
}

function textOf(label: string, note: string): string {
  return note === '' ? label : `${label}${GAP}${note}`;
}

interface Widths extends Canvas {
  readonly labelWidth: number;
  readonly podWidth: number;
  readonly barWidth: number;
}

function drawRow(row: Row, axis: Axis, canvas: Widths): string {
  const { paint, glyphs, labelWidth, podWidth, barWidth } = canvas;
  const { lead, label, note, style, pod, took, bar } = row;
  const room = Math.max(0, labelWidth - lead.length);
  // Before it is padded: what stands for a letter may be narrower than it. After: for the ellipsis.
  const whole = glyphs.fit(textOf(label, note));
  const isTooLong = bar.of === 'many' && columnsOf(whole) > room;
  const text = glyphs.fit(pad(isTooLong ? glyphs.fit(label) : whole, room));
  // What went as it should needs no colour in its words.
  const isFrame = bar.of === 'step' || bar.of === 'axis';
  const isQuiet = note === '' && bar.of === 'work';
  const parts = [
    `${paint('gray', lead)}${isQuiet ? text : paint(style, text)}`,
    podWidth === 0 ? '' : ` ${paint('bold', pad(pod ?? '', podWidth))}`,
    ` ${pad(took, TOOK_WIDTH, 'right')}${GAP}`,
    drawBar(bar, axis, barWidth, glyphs, (bits) => paint(isFrame ? 'gray' : style, bits)),
  ];
  return parts.join('').trimEnd();
}

/** At least one cell: what happened is there, however short it was. */
function drawBar(
  { from, to, of }: Bar,
  axis: Axis,
  width: number,
  glyphs: Glyphs,
  paint: (bits: string) => string,
): string {
  if (width === 0) return '';
  const scale = axis.to > axis.from ? width / (axis.to - axis.from) : 0;
  // Both ends are rounded alike, so that what follows begins in the cell after.
  const first = Math.min(width - 1, Math.round((from - axis.from) * scale));
  const exact = (to - from) * scale;
  const count = Math.max(1, Math.min(width - first, Math.round((to - axis.from) * scale) - first));
  if (of === 'axis') {
    const [begin, between, end] = glyphs.axis;
    return paint(`${begin}${between.repeat(Math.max(0, width - 2))}${end}`);
  }
  const isMoment = exact < MOMENT_MAX && of !== 'mark' && of !== 'wait';
  const bits = isMoment ? glyphs.moment : glyphs[of].repeat(of === 'mark' ? 1 : count);
  return `${' '.repeat(first)}${paint(bits)}`;
}

/** Shorter than this part of a cell, a whole one would exaggerate. */
const MOMENT_MAX = 0.5;
