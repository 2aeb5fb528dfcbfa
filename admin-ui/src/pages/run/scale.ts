/** Where on the line of time each span is drawn. Idle time is cut short where it would hide the rest. */
import type { Span } from './course.ts';

export interface Placed extends Span {
  readonly x: number;
  readonly width: number;
  readonly isCut: boolean;
}

const SPAN_WIDTH_MIN = 4;
const CUT_WIDTH = 74;
/** Idle time that is longer than this part of all work is cut short. */
const CUT_SHARE = 0.25;

export function isIdle({ kind }: Pick<Span, 'kind'>): boolean {
  return kind !== 'phase';
}

export function place(spans: readonly Span[], width: number, isCollapsed: boolean): Placed[] {
  const workMs = sum(spans.filter((span) => !isIdle(span)));
  const isCut = (span: Span) =>
    isCollapsed && isIdle(span) && span.until - span.from > Math.max(workMs * CUT_SHARE, 1);
  const cutCount = spans.filter(isCut).length;
  const others = spans.filter((span) => !isCut(span));
  const msInAll = Math.max(1, sum(others));
  const room = Math.max(width - cutCount * CUT_WIDTH - others.length * SPAN_WIDTH_MIN, 40);
  let x = 0;
  return spans.map((span) => {
    const isShort = isCut(span);
    const share = ((span.until - span.from) / msInAll) * room;
    const placed = {
      ...span,
      x,
      width: isShort ? CUT_WIDTH : SPAN_WIDTH_MIN + share,
      isCut: isShort,
    };
    x += placed.width;
    return placed;
  });
}

function sum(spans: readonly Span[]): number {
  return spans.reduce((all, { from, until }) => all + until - from, 0);
}
