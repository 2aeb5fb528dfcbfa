/**
 * Runs × phases: a column for each of the last runs, a row for each phase. A cell is as high as the
 * phase took beside the slowest of its row, and has the colour of how it went.
 */
import { useLayoutEffect, useRef, useState } from 'react';
import { showInstant, showSpan } from '../../format/time.ts';
import { kindOf, LABEL } from '../../format/words.ts';
import { now } from '../../platform/clock.ts';
import { useSettings } from '../../platform/settings.ts';
import { go, Link } from '../../router/router.tsx';
import type { TimedRun } from '../../services/fleet-types.ts';
import type { PhaseStat } from './machine-rows.ts';

const [CELL, GAP, HEIGHT] = [14, 3, 34];

type CellState = 'passed' | 'retried' | 'failed' | 'current' | 'none';

const WORD: Record<CellState, string> = {
  passed: 'passed',
  retried: 'passed after failures',
  failed: 'fell here',
  current: 'is here',
  none: 'not reached',
};

interface GridProps {
  /** Newest first, as they come. */
  readonly runs: readonly TimedRun[];
  readonly stats: readonly PhaseStat[];
}

export function PhaseGrid({ runs, stats }: GridProps) {
  const shown = [...runs].reverse();
  const [at, setAt] = useState<number>();
  const chosen = at === undefined ? undefined : shown[at];
  const width = shown.length * (CELL + GAP);
  const scroll = useRef<HTMLDivElement>(null);
  // Where there is no room for all, the newest are what one came for.
  useLayoutEffect(() => {
    if (scroll.current) scroll.current.scrollLeft = width;
  }, [width]);
  const move = (by: number) =>
    setAt((before) => Math.max(0, Math.min(shown.length - 1, (before ?? shown.length) + by)));
  return (
    <figure className="grid-figure">
      <div className="grid-body">
        <ul className="grid-names" aria-hidden="true">
          {stats.map(({ phase }) => (
            <li key={phase}>{phase}</li>
          ))}
        </ul>
        <div
          className="grid-scroll"
          ref={scroll}
          role="slider"
          tabIndex={0}
          aria-label="Runs by phase, oldest first"
          aria-valuemin={0}
          aria-valuemax={Math.max(0, shown.length - 1)}
          aria-valuenow={at ?? Math.max(0, shown.length - 1)}
          aria-valuetext={chosen ? wordsOf(chosen) : `${shown.length} runs`}
          onKeyDown={(event) => {
            if (event.key === 'ArrowLeft') move(-1);
            else if (event.key === 'ArrowRight') move(1);
            else if (event.key === 'Enter' && chosen) go(`/runs/${encodeURIComponent(chosen.id)}`);
            else return;
            event.preventDefault();
          }}
          onBlur={() => setAt(undefined)}
          onPointerLeave={() => setAt(undefined)}
        >
          <svg width={width} height={stats.length * (HEIGHT + GAP)} aria-hidden="true">
            {shown.map((run, column) => (
              <g
                key={run.id}
                className="grid-run"
                data-at={column === at || undefined}
                transform={`translate(${column * (CELL + GAP)} 0)`}
                onPointerEnter={() => setAt(column)}
                onPointerDown={() => go(`/runs/${encodeURIComponent(run.id)}`)}
              >
                {stats.map((stat, row) => (
                  <Cell key={stat.phase} run={run} stat={stat} y={row * (HEIGHT + GAP)} />
                ))}
              </g>
            ))}
          </svg>
        </div>
      </div>
      <figcaption>
        {chosen ? (
          <Chosen run={chosen} />
        ) : (
          <span className="quiet">
            The last {shown.length}, oldest first. A cell is as high as the phase took beside the
            slowest of its row.
          </span>
        )}
        <Legend />
      </figcaption>
    </figure>
  );
}

function Cell({ run, stat, y }: { run: TimedRun; stat: PhaseStat; y: number }) {
  const told = run.phases.find(({ phase }) => phase === stat.phase);
  const state = stateOf(run, stat.phase);
  const share = told && stat.most > 0 ? told.ms / stat.most : 0;
  const height = state === 'none' ? 3 : Math.max(5, Math.round(Math.sqrt(share) * HEIGHT));
  return (
    <>
      <rect className="grid-room" y={y} width={CELL} height={HEIGHT} rx="2" />
      <rect
        className={`grid-cell cell-${state}`}
        y={y + HEIGHT - height}
        width={CELL}
        height={height}
        rx="2"
      />
      {state === 'failed' && (
        <path className="grid-cross" d={`M4.5 ${y + HEIGHT - 9}l5 5m0-5l-5 5`} />
      )}
    </>
  );
}

function stateOf(run: TimedRun, phase: string): CellState {
  const told = run.phases.find((each) => each.phase === phase);
  const isHere = run.phases.at(-1)?.phase === phase || run.state === phase;
  if (isHere && run.status === 'failed') return 'failed';
  if (run.state === phase && run.finishedAt === undefined) return 'current';
  if (!told) return 'none';
  return told.failures > 0 ? 'retried' : 'passed';
}

function wordsOf(run: TimedRun): string {
  const parts = run.phases.map(({ phase, ms }) => `${phase} ${showSpan(ms)}`);
  return `${LABEL[kindOf(run)]}: ${parts.join(', ')}`;
}

function Chosen({ run }: { run: TimedRun }) {
  const { times } = useSettings();
  return (
    <span className="grid-chosen">
      <Link to={`/runs/${encodeURIComponent(run.id)}`}>…{run.id.slice(-8)}</Link>{' '}
      {showInstant(run.createdAt, times, now())} · {wordsOf(run)}
    </span>
  );
}

function Legend() {
  return (
    <span className="grid-legend" aria-hidden="true">
      {(['passed', 'retried', 'failed', 'current'] as const).map((state) => (
        <span key={state}>
          <svg width="10" height="10" aria-hidden="true">
            <rect className={`cell-${state}`} width="10" height="10" rx="2" />
          </svg>
          {WORD[state]}
        </span>
      ))}
    </span>
  );
}
