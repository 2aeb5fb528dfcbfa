/** The pods with whatever is told of them, asked again when one has changed and every few seconds. */
import { useCallback, useMemo } from 'react';
import { get } from '../../services/api.ts';
import type { Leading, PodRow, SweepPage } from '../../services/fleet-types.ts';
import { useFollow } from '../../services/live.tsx';
import { useAskSoon } from '../../services/use-ask-soon.ts';
import { useBeat } from '../../services/use-beat.ts';
import { type Loaded, useLoad } from '../../services/use-load.ts';

const LOOK_MS = 1_000;
const BEAT_MS = 5_000;
const SWEEPS_MAX = 200;

interface PodList {
  readonly pods: readonly PodRow[];
  /** Older pods that are down, and not among them. */
  readonly omitted?: number;
}

export interface Pods {
  readonly pods: Loaded<PodList>;
  readonly leading: Loaded<Leading>;
  readonly sweeps: Loaded<SweepPage>;
  readonly nameOf: (pod: string) => string;
  reload(): void;
}

export function usePods(): Pods {
  const pods = useLoad('pods', (signal) => get<PodList>('/pods?all=true', signal));
  const leading = useLoad('leader', (signal) => get<Leading>('/leader', signal));
  const sweeps = useLoad('sweeps', (signal) =>
    get<SweepPage>(`/sweeps?limit=${SWEEPS_MAX}`, signal),
  );
  const reload = useCallback(() => {
    pods.reload();
    leading.reload();
    sweeps.reload();
  }, [pods.reload, leading.reload, sweeps.reload]);
  // Heartbeats come in crowds.
  const soon = useAskSoon(reload, LOOK_MS);
  useFollow('pods', ({ event }) => event === 'pods' && soon());
  useBeat(BEAT_MS, reload);
  const names = useMemo(
    () => new Map((pods.data?.pods ?? []).map(({ pod, name }) => [pod, name])),
    [pods.data],
  );
  const nameOf = useCallback((pod: string) => names.get(pod) ?? `…${pod.slice(-6)}`, [names]);
  return { pods, leading, sweeps, nameOf, reload };
}
