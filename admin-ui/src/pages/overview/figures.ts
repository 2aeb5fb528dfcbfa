/** What the charts show, from histograms and from runs that were timed. Pure. */
import type { TimedRun } from '../../services/fleet-types.ts';
import type { Histogram } from '../../services/types.ts';
import { type PhaseStat, quantile, statsOf } from '../machines/machine-rows.ts';

export interface Flow {
  readonly times: readonly number[];
  readonly completed: readonly number[];
  readonly failed: readonly number[];
  readonly unfinished: readonly number[];
}

export function flowOf({ buckets }: Histogram): Flow {
  const of = (...names: string[]) =>
    buckets.map(({ byStatus }) => names.reduce((sum, name) => sum + (byStatus[name] ?? 0), 0));
  return {
    times: buckets.map(({ fromMs }) => fromMs),
    completed: of('completed'),
    failed: of('failed'),
    unfinished: of('pending', 'waiting', 'claimed'),
  };
}

export interface RunTimes {
  readonly times: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
}

/** From creation to end, by when they ended. */
export function runTimesOf(
  runs: readonly TimedRun[],
  span: { readonly from: number; readonly until: number },
  parts: number,
): RunTimes {
  const width = (span.until - span.from) / parts;
  const took: number[][] = Array.from({ length: parts }, () => []);
  for (const { createdAt, finishedAt } of runs) {
    if (finishedAt === undefined) continue;
    const part = Math.floor((finishedAt - span.from) / width);
    took[part]?.push(Math.max(0, finishedAt - createdAt));
  }
  for (const times of took) times.sort((a, b) => a - b);
  const at = (share: number) =>
    took.map((times) => (times.length === 0 ? null : quantile(times, share)));
  return {
    times: took.map((_, part) => span.from + part * width),
    p50: at(0.5),
    p95: at(0.95),
  };
}

export interface MachinePhase extends PhaseStat {
  readonly machine: string;
}

/** The slowest phases, whosever they are. */
export function slowestPhases(runs: readonly TimedRun[], countMax: number): MachinePhase[] {
  const machines = [...new Set(runs.map(({ machine }) => machine))];
  return machines
    .flatMap((machine) =>
      statsOf(
        runs.filter((run) => run.machine === machine),
        [],
      ).map((stat) => ({ machine, ...stat })),
    )
    .sort((a, b) => b.p95 - a.p95)
    .slice(0, countMax);
}
