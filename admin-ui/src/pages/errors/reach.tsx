/** When an error was seen first and last, on the line of time that all of them share. */
import { showInstant } from '../../format/time.ts';
import { now } from '../../platform/clock.ts';
import { useSettings } from '../../platform/settings.ts';
import type { ErrorGroup } from '../../services/many.ts';

interface ReachProps {
  readonly group: ErrorGroup;
  readonly from: number;
  readonly until: number;
}

export function Reach({ group, from, until }: ReachProps) {
  const { times } = useSettings();
  const whole = Math.max(1, until - from);
  const [first, last] = [group.firstAt, group.lastAt].map((at) => ((at - from) / whole) * 100);
  const said = [group.firstAt, group.lastAt].map((at) => showInstant(at, times, now()));
  return (
    <svg
      className="reach"
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label={`from ${said[0]} to ${said[1]}`}
    >
      <rect className="reach-all" y="3.5" width="100" height="1" />
      {/* What was seen once is a mark, and not nothing. */}
      <rect
        className="reach-own"
        x={Math.min(first!, 98.5)}
        y="1"
        width={Math.max(1.5, last! - first!)}
        height="6"
        rx="0.6"
      />
    </svg>
  );
}
