/** Throughput and run times over the span that is chosen. */
import { useMemo } from 'react';
import { Chart } from '../../components/chart.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { showSpan } from '../../format/time.ts';
import { showCount } from '../../format/words.ts';
import type { TimedRuns } from '../../services/fleet-types.ts';
import type { Histogram } from '../../services/types.ts';
import type { Loaded } from '../../services/use-load.ts';
import { flowOf, runTimesOf } from './figures.ts';

const TIMED_PARTS = 30;
const showWhole = (value: number) => (Number.isInteger(value) ? showCount(value) : '');

interface ChartsProps {
  readonly flow: Loaded<Histogram>;
  readonly timed: Loaded<TimedRuns>;
  readonly range: { readonly from: number; readonly until: number };
}

export function Charts({ flow, timed, range }: ChartsProps) {
  return (
    <div className="overview-columns">
      <section className="panel chart-panel" aria-label="Runs over time">
        <Boundary name="Runs over time">
          {flow.data ? <Flow data={flow.data} /> : <Missing loaded={flow} what="runs over time" />}
        </Boundary>
      </section>
      <section className="panel chart-panel" aria-label="Run times">
        <Boundary name="Run times">
          {timed.data ? (
            <Took data={timed.data} range={range} />
          ) : (
            <Missing loaded={timed} what="run times" />
          )}
        </Boundary>
      </section>
    </div>
  );
}

function Missing({ loaded, what }: { loaded: Loaded<unknown>; what: string }) {
  if (loaded.error) return <Refusal error={loaded.error} onAgain={loaded.reload} />;
  return <Loading what={what} />;
}

function Flow({ data }: { data: Histogram }) {
  const series = useMemo(() => {
    const flow = flowOf(data);
    return {
      times: flow.times,
      lines: [
        { name: 'Completed', colour: 'ok-fill', isFilled: true, values: flow.completed },
        { name: 'Unfinished', colour: 'run-fill', values: flow.unfinished },
        { name: 'Failed', colour: 'bad-fill', isFilled: true, values: flow.failed },
      ],
    };
  }, [data]);
  return (
    <Chart
      title="Runs by when they were created"
      times={series.times}
      series={series.lines}
      show={showWhole}
    />
  );
}

function Took({ data, range }: { data: TimedRuns; range: ChartsProps['range'] }) {
  const series = useMemo(() => {
    const took = runTimesOf(data.runs, range, TIMED_PARTS);
    return {
      times: took.times,
      lines: [
        { name: 'p95', colour: 'wait-fill', values: bridged(took.p95) },
        { name: 'p50', colour: 'run-fill', values: bridged(took.p50) },
      ],
    };
  }, [data, range]);
  if (data.runs.length === 0) return <p className="nothing">No run has ended in this time.</p>;
  return (
    <Chart
      title={`From creation to end, of the last ${data.runs.length} that ended`}
      times={series.times}
      series={series.lines}
      show={showSpan}
    />
  );
}

/** A part in which nothing ended is shown as the one before it, so that a line can be seen. */
function bridged(values: readonly (number | null)[]): readonly (number | null)[] {
  let last: number | null = null;
  return values.map((value) => {
    last = value ?? last;
    return last;
  });
}
