/** What the run did when: a lane for each phase, waits and gaps between, and whose pod it was on. */
import { useMemo, useRef, useState } from 'react';
import { useWidth } from '../../components/use-width.ts';
import { showSpan } from '../../format/time.ts';
import { plural } from '../../format/words.ts';
import type { Course, Span, SpanKind } from './course.ts';
import { isIdle, type Placed, place } from './scale.ts';

const [LANE, TOP, LABELS, PODS] = [22, 4, 128, 20];
/** Of the box, left and right. */
const PADDING = 30;

const WORDS: Record<SpanKind, string> = {
  queue: 'in the queue',
  phase: '',
  wait: 'waits',
  sleep: 'sleeps',
  gap: 'nobody has it',
};

interface TimelineProps {
  readonly course: Course;
  readonly phases: readonly string[];
  readonly podName: (pod: string) => string;
  readonly at: number | undefined;
  readonly onPick: (seq: number) => void;
}

export function Timeline({ course, phases, podName, at, onPick }: TimelineProps) {
  const [isCollapsed, setCollapsed] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box, 800);
  const { spans, count, wholeMs, workMs } = course;
  const isNarrow = width < 500;
  const labels = isNarrow ? 92 : LABELS;
  const placed = useMemo(
    () => place(spans, Math.max(240, width - labels - PADDING), isCollapsed),
    [spans, width, labels, isCollapsed],
  );
  const lanes = lanesOf(placed, phases);
  const right = placed.reduce((far, span) => Math.max(far, span.x + span.width), 0);
  const height = TOP + lanes.length * LANE + PODS + 6;
  return (
    <div className="timeline" ref={box}>
      <div className="timeline-scroll" tabIndex={0} role="group" aria-label="Timeline">
        <svg width={labels + right + 4} height={height} role="img" aria-label={sayAll(placed)}>
          {lanes.map((lane, index) => (
            <g key={lane}>
              <path
                className="lane-line"
                d={`M${labels} ${TOP + (index + 1) * LANE}H${labels + right}`}
              />
              <text className="lane-name" x={0} y={TOP + index * LANE + 15}>
                {shorten(lane, isNarrow)}
              </text>
            </g>
          ))}
          <g transform={`translate(${labels} ${TOP})`}>
            {placed.map((span, index) => (
              <Bar
                // biome-ignore lint/suspicious/noArrayIndexKey: spans have no name but their place
                key={index}
                span={span}
                y={lanes.indexOf(laneOf(span)) * LANE}
                isAt={span.seq !== undefined && span.seq === at}
                text={say(span, podName)}
                onPick={onPick}
              />
            ))}
            <Pods spans={placed} y={lanes.length * LANE + 6} podName={podName} />
          </g>
        </svg>
      </div>
      <div className="timeline-foot quiet">
        <span>
          {showSpan(wholeMs)} in all, {showSpan(workMs)} at work
          {count > spans.length && `; the last ${spans.length} of ${plural(count, 'span')}`}
        </span>
        <label className="check">
          <input
            type="checkbox"
            checked={isCollapsed}
            onChange={(event) => setCollapsed(event.target.checked)}
          />
          Cut idle time short
        </label>
      </div>
    </div>
  );
}

const laneOf = ({ kind, state }: Span) => (kind === 'queue' ? 'queue' : state);
const shorten = (lane: string, isNarrow: boolean) =>
  isNarrow && lane.length > 14 ? `…${lane.slice(-13)}` : lane;

/** In the order of the line; what is not on it comes where it first happened. */
function lanesOf(spans: readonly Span[], phases: readonly string[]): readonly string[] {
  const used = [...new Set(spans.map(laneOf))];
  const rank = (lane: string) => (lane === 'queue' ? -1 : phases.indexOf(lane));
  return used.sort((a, b) => rank(a) - rank(b));
}

function Bar({
  span,
  y,
  isAt,
  text,
  onPick,
}: {
  span: Placed;
  y: number;
  isAt: boolean;
  text: string;
  onPick: (seq: number) => void;
}) {
  const { x, width, kind, end, isCut, from, until } = span;
  const pick = () => span.seq !== undefined && onPick(span.seq);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the log beside it does the same by keys
    <g className="span" data-kind={kind} data-end={end} data-at={isAt || undefined} onClick={pick}>
      <title>{text}</title>
      <rect x={x} y={y + 3} width={Math.max(2, width - 1)} height={LANE - 7} rx={3} />
      {isIdle(span) && width > 40 && (
        <text x={x + width / 2} y={y + 14.5}>
          {showSpan(until - from)}
        </text>
      )}
      {isCut && <path className="span-break" d={breakAt(x, y)} />}
      {end === 'failed' && width > 12 && (
        <path className="span-mark" d={`M${x + width - 9} ${y + 7.5}l5 5m0 -5l-5 5`} />
      )}
    </g>
  );
}

/** Two strokes through a bar that is longer than it is drawn. */
function breakAt(x: number, y: number): string {
  return `M${x + 6} ${y + LANE - 2}l4 -${LANE - 5}m4 0l-4 ${LANE - 5}`;
}

interface Held {
  readonly pod: string;
  readonly x: number;
  readonly until: number;
}

/** One band for as long as a pod had it; between two of them it changed hands. */
function Pods({
  spans,
  y,
  podName,
}: {
  spans: readonly Placed[];
  y: number;
  podName: (pod: string) => string;
}) {
  const bands: Held[] = [];
  for (const { pod, x, width, kind } of spans) {
    const last = bands.at(-1);
    if (pod === undefined || kind === 'gap' || kind === 'queue') continue;
    if (last && last.pod === pod) bands[bands.length - 1] = { ...last, until: x + width };
    else bands.push({ pod, x, until: x + width });
  }
  return bands.map(({ pod, x, until }, index) => (
    <g key={`${pod} ${x}`} className="pod-band" data-odd={index % 2 === 1 || undefined}>
      <title>{podName(pod)}</title>
      <rect x={x} y={y} width={Math.max(2, until - x - 1)} height={4} rx={2} />
      {until - x > 30 && (
        <text x={x} y={y + 15}>
          {podName(pod)}
        </text>
      )}
    </g>
  ));
}

function say(
  { kind, state, from, until, attempt, end, pod }: Span,
  podName: (pod: string) => string,
): string {
  const what = kind === 'phase' ? `${state}, attempt ${attempt}, ${end}` : WORDS[kind];
  const where = pod === undefined ? '' : ` on ${podName(pod)}`;
  return `${what}: ${showSpan(until - from)}${where}`;
}

function sayAll(spans: readonly Placed[]): string {
  const counts = { phase: 0, idle: 0, gap: 0 };
  for (const { kind } of spans)
    counts[kind === 'phase' ? 'phase' : kind === 'gap' ? 'gap' : 'idle']++;
  return `${plural(counts.phase, 'phase')}, ${plural(counts.idle, 'wait')}, ${plural(counts.gap, 'gap')}`;
}
