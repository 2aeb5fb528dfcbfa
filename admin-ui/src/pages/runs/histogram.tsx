/** How many runs were created when, and how they stand now: a press or a drag makes it a filter. */
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { showInstant, showSpan } from '../../format/time.ts';
import { plural, showCount } from '../../format/words.ts';
import { useSettings } from '../../platform/settings.ts';
import type { Histogram as Data } from '../../services/types.ts';

/** From the bottom up: what needs attention is on top. */
const LAYERS = ['completed', 'cancelled', 'pending', 'waiting', 'claimed', 'failed'] as const;
const HEIGHT = 100;

interface HistogramProps {
  readonly data: Data;
  readonly nowMs: number;
  readonly onPick: (fromMs: number, untilMs: number) => void;
}

export function Histogram({ data: { buckets }, nowMs, onPick }: HistogramProps) {
  const [at, setAt] = useState<number>();
  const [from, setFrom] = useState<number>();
  const { times } = useSettings();
  const totals = buckets.map(({ byStatus }) => sum(byStatus));
  const most = Math.max(1, ...totals);
  const all = totals.reduce((sum, count) => sum + count, 0);
  const clock = (ms: number) => showInstant(ms, times === 'utc' ? 'utc' : 'local', nowMs);
  const where = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - left) / width) * buckets.length);
    return Math.max(0, Math.min(buckets.length - 1, index));
  };
  const pick = (a: number, b: number) => {
    const [first, last] = [buckets[Math.min(a, b)], buckets[Math.max(a, b)]];
    if (first && last) onPick(first.fromMs, last.untilMs);
    setFrom(undefined);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const start = at ?? (step > 0 ? -1 : buckets.length);
      setAt(Math.max(0, Math.min(buckets.length - 1, start + step)));
    } else if (event.key === 'Enter' && at !== undefined) pick(at, at);
  };
  const say = (index: number) => {
    const { fromMs, untilMs, byStatus } = buckets[index]!;
    const failed = byStatus['failed'] ?? 0;
    const words = `${clock(fromMs)}, ${showSpan(untilMs - fromMs)}: ${plural(totals[index]!, 'run')}`;
    return failed > 0 ? `${words}, ${showCount(failed)} failed` : words;
  };
  const [low, high] =
    from === undefined || at === undefined ? [at, at] : [Math.min(from, at), Math.max(from, at)];
  return (
    <figure className="histogram">
      {/* The drawing scales with the page; who moves along it is its frame. */}
      <div
        className="histogram-slider"
        role="slider"
        tabIndex={0}
        aria-label="Runs over time"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, buckets.length - 1)}
        aria-valuenow={at ?? buckets.length - 1}
        aria-valuetext={at === undefined ? `${plural(all, 'run')} in all` : say(at)}
        onKeyDown={press}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setFrom(where(event));
          setAt(where(event));
        }}
        onPointerMove={(event) => setAt(where(event))}
        onPointerUp={(event) => from !== undefined && pick(from, where(event))}
        onPointerLeave={() => from === undefined && setAt(undefined)}
        onBlur={() => setAt(undefined)}
      >
        <svg
          viewBox={`0 0 ${buckets.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {low !== undefined && high !== undefined && (
            <rect className="histogram-range" x={low} width={high - low + 1} height={HEIGHT} />
          )}
          {buckets.map(({ fromMs, byStatus }, index) => (
            <Bar key={fromMs} x={index} byStatus={byStatus} most={most} />
          ))}
        </svg>
      </div>
      <figcaption>
        <span>{buckets[0] && clock(buckets[0].fromMs)}</span>
        <span className="histogram-said">{at === undefined ? '' : say(at)}</span>
        <span>{buckets.at(-1) && clock(buckets.at(-1)!.untilMs)}</span>
      </figcaption>
    </figure>
  );
}

function sum(byStatus: Readonly<Record<string, number>>): number {
  return Object.values(byStatus).reduce((all, count) => all + count, 0);
}

function Bar({
  x,
  byStatus,
  most,
}: {
  x: number;
  byStatus: Readonly<Record<string, number>>;
  most: number;
}) {
  let top = HEIGHT;
  return LAYERS.map((status) => {
    const count = byStatus[status] ?? 0;
    if (count === 0) return null;
    // One failure among thousands is still to be seen.
    const height = Math.max((count / most) * (HEIGHT - 4), 3);
    top -= height;
    return (
      <rect
        key={status}
        className={`bar bar-${status}`}
        x={x + 0.12}
        width={0.76}
        y={Math.max(0, top)}
        height={height}
      />
    );
  });
}
