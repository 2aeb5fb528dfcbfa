/** Everything the overview is told: a handful of questions, each within the bounds of its route. */
import { useMemo, useState } from 'react';
import { now } from '../../platform/clock.ts';
import { type ApiError, get, queryText } from '../../services/api.ts';
import type {
  Census,
  ErrorGroup,
  Leading,
  MachineRow,
  PodRow,
  TimedRuns,
} from '../../services/fleet-types.ts';
import type { Histogram, RunCount, RunPage } from '../../services/types.ts';
import { useBeat } from '../../services/use-beat.ts';
import { type Loaded, useLoad } from '../../services/use-load.ts';
import { type Known, SLOW_AFTER } from './attention.ts';

export const WINDOWS: Readonly<Record<string, number>> = {
  '5m': 300_000,
  '15m': 900_000,
  '1h': 3_600_000,
  '6h': 21_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
};
const BUCKETS = 60;
const TIMED_MAX = 200;
const BEAT_MS = 5_000;
const SLOW_MAX = 50;
const ERRORS_MAX = 20;

export interface Overview {
  readonly known: Known;
  readonly failedLately: RunCount | undefined;
  readonly flow: Loaded<Histogram>;
  readonly timed: Loaded<TimedRuns>;
  readonly range: { readonly from: number; readonly until: number };
  /** Of what nothing can be shown without. */
  readonly error: ApiError | undefined;
  reload(): void;
}

export function useOverview(span: string): Overview {
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves on with each turn
  const range = useMemo(() => {
    const until = now();
    return { from: until - WINDOWS[span]!, until };
  }, [span, turn]);
  const ask =
    <T>(path: string) =>
    (signal: AbortSignal) =>
      get<T>(path, signal);
  const pods = useLoad('pods', ask<{ pods: PodRow[] }>('/pods?all=true'));
  const leading = useLoad('leader', ask<Leading>('/leader?limit=1'));
  const census = useLoad('census', ask<Census>('/census'));
  const machines = useLoad('machines', ask<{ machines: MachineRow[] }>('/machines'));
  const errors = useLoad(
    'errors',
    ask<{ groups: ErrorGroup[] }>(
      `/errors${queryText({ filter: 'finished:<1h', limit: ERRORS_MAX })}`,
    ),
  );
  const count = (filter: string) => ask<RunCount>(`/runs/count${queryText({ filter })}`);
  const failed = useLoad('failed', count('status:failed finished:<1h'));
  const letters = useLoad('letters', count('is:dead-letter finished:<1h'));
  const slow = useLoad(
    'slow',
    ask<RunPage>(
      `/runs${queryText({ filter: `status:claimed updated:>${SLOW_AFTER}`, limit: SLOW_MAX })}`,
    ),
  );
  const whole = { from: Math.floor(range.from), until: Math.ceil(range.until), buckets: BUCKETS };
  const flow = useLoad(`flow ${span}`, ask<Histogram>(`/runs/histogram${queryText(whole)}`));
  const ended = { filter: `is:finished finished:<${span} -machine:recovery/*`, limit: TIMED_MAX };
  const timed = useLoad(`timed ${span}`, ask<TimedRuns>(`/runs/phases${queryText(ended)}`));
  const all = [pods, leading, census, machines, errors, failed, letters, slow, flow, timed];
  const reload = () => {
    setTurn((before) => before + 1);
    for (const each of all) each.reload();
  };
  useBeat(BEAT_MS, reload);
  const known = useMemo(
    (): Known => ({
      pods: pods.data?.pods,
      hasLeader: leading.data && leading.data.leader !== null,
      census: census.data,
      machines: machines.data?.machines,
      errors: errors.data?.groups,
      lettersLately: letters.data?.count,
      slow: slow.data?.runs,
    }),
    [pods.data, leading.data, census.data, machines.data, errors.data, letters.data, slow.data],
  );
  const error = pods.data || census.data ? undefined : (pods.error ?? census.error);
  return { known, failedLately: failed.data, flow, timed, range, error, reload };
}
