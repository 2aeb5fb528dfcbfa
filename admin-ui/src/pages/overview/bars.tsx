/** Two short lists of bars: the slowest phases, and for how long each machine's oldest run is due. */
import { useMemo } from 'react';
import { Loading, Refusal } from '../../components/panel.tsx';
import { showSpan } from '../../format/time.ts';
import { plural } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import type { Census, TimedRuns } from '../../services/fleet-types.ts';
import type { Loaded } from '../../services/use-load.ts';
import { slowestPhases } from './figures.ts';

const SHOWN_MAX = 8;

export function PhaseBars({ timed }: { timed: Loaded<TimedRuns> }) {
  const slowest = useMemo(() => slowestPhases(timed.data?.runs ?? [], SHOWN_MAX), [timed.data]);
  if (timed.error && !timed.data) return <Refusal error={timed.error} onAgain={timed.reload} />;
  if (!timed.data) return <Loading what="phases" />;
  if (slowest.length === 0) return <p className="nothing">No phase has ended in this time.</p>;
  const most = Math.max(1, ...slowest.map(({ p95 }) => p95));
  return (
    <ul className="bars">
      {slowest.map(({ machine, phase, p50, p95 }) => (
        <li key={`${machine} ${phase}`}>
          <Link to={`/machines/${encodeURIComponent(machine)}`}>
            {machine} <span className="quiet">{phase}</span>
          </Link>
          <Bar parts={[p95 / most, p50 / most]} />
          <span className="number" title={`half of them within ${showSpan(p50)}`}>
            <span className="offscreen">p95 </span>
            {showSpan(p95)}
          </span>
        </li>
      ))}
    </ul>
  );
}

export function QueueBars({ census }: { census: Census | undefined }) {
  if (!census) return <Loading what="the queue" />;
  const old = census.routes
    .filter(({ oldestMs }) => oldestMs !== undefined)
    .sort((a, b) => (b.oldestMs ?? 0) - (a.oldestMs ?? 0))
    .slice(0, SHOWN_MAX);
  if (old.length === 0) return <p className="nothing">Nothing is due that has not begun.</p>;
  const most = Math.max(1, ...old.map(({ oldestMs }) => oldestMs ?? 0));
  return (
    <ul className="bars">
      {old.map(({ route, machine, pending, isLive, oldestMs = 0 }) => (
        <li key={route}>
          <Link to={`/machines/${encodeURIComponent(machine)}`}>
            {route}{' '}
            <span className="quiet">
              {plural(pending, 'run')}
              {isLive ? '' : ', no pod has it'}
            </span>
          </Link>
          <Bar parts={[0, oldestMs / most]} isLate={!isLive} />
          <span className="number">{showSpan(oldestMs)}</span>
        </li>
      ))}
    </ul>
  );
}

function Bar({ parts, isLate = false }: { parts: readonly [number, number]; isLate?: boolean }) {
  return (
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect className="bar-p95" width={parts[0] * 100} height="8" />
      <rect
        className={isLate ? 'bar-late' : 'bar-p50'}
        width={Math.max(1, parts[1] * 100)}
        height="8"
      />
    </svg>
  );
}
