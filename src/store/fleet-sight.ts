/**
 * How much of the fleet the answer to a heartbeat shows: all of it to the pods that may have to sweep, and
 * to the others the leader and the lives of their own journal. So the bytes of all answers grow with the
 * pods and not with their square. Postgres decides by the same rules in `beatPod`.
 *
 *   order of leadership   leader   2nd   3rd │ 4th   5th   6th …
 *   sees the whole fleet  ──── always ────── │ ──── once a pod is overdue, one more a turn ──▶
 *
 * The order counts only pods that are able to lead. A pod of the first three that falls silent or stalls is
 * out of it, and the fourth moves up. Where the first three look able and leave an overdue pod unswept, the
 * next pod sees the fleet early enough to watch that pod for a silence before its own turn comes (I26).
 */
import {
  AUDIBLE_BEATS,
  type Beat,
  type FleetSight,
  leaderOf,
  mayLead,
  type PodGlimpse,
} from './pods.ts';

/** So many pods, in the order of leadership, always see the whole fleet. */
export const LOOKOUTS = 3;

export interface PodInSight extends PodGlimpse {
  readonly journal: string;
  /** How long ago it was declared dead; undefined where it is alive. */
  readonly deadMs: number | undefined;
}

/** `pods`: every pod that is not down, oldest first, as they are once the beat is taken. */
export function fleetSightOf(
  pods: readonly PodInSight[],
  { pod, times }: Pick<Beat, 'pod' | 'times'>,
): FleetSight {
  const up = pods.filter(({ status }) => status === 'up');
  const heardMs = times ? AUDIBLE_BEATS * times.heartbeatMs : Number.POSITIVE_INFINITY;
  const headcount = {
    up: up.length,
    heard: up.filter(({ silentMs }) => silentMs < heardMs).length,
    mark: up.map((one) => one.pod).join(' '),
  };
  const own = pods.find((one) => one.pod === pod)?.journal;
  const leader = times && leaderOf(pods, times.silentMs);
  const isShown = isLookout(pods, { pod, times })
    ? () => true
    : (one: PodInSight) => one === leader || one.journal === own;
  const fleet = pods.filter(isShown).map(glimpseOf);
  return { fleet, seesAll: fleet.length === pods.length, headcount };
}

/** Whether all of the fleet is shown to this pod. */
function isLookout(
  pods: readonly PodInSight[],
  { pod, times }: Pick<Beat, 'pod' | 'times'>,
): boolean {
  if (!times) return true;
  const { heartbeatMs, silentMs } = times;
  const able = pods.filter((one) => mayLead(one, silentMs));
  const place = able.findIndex((one) => one.pod === pod);
  const overdueMs = Math.max(...pods.map((one) => overdueOf(one, silentMs)));
  return place >= 0 && place < LOOKOUTS + openTurns(overdueMs, silentMs + heartbeatMs);
}

/** For how long it could have been swept; negative where it has beaten lately. */
function overdueOf({ deadMs, silentMs, silenceMs }: PodInSight, silentMsMax: number): number {
  return deadMs ?? silentMs - (silenceMs ?? silentMsMax);
}

/** The turn that has begun counts. */
function openTurns(overdueMs: number, turnMs: number): number {
  return overdueMs < 0 ? 0 : 1 + Math.floor(overdueMs / turnMs);
}

function glimpseOf({ journal, deadMs, ...glimpse }: PodInSight): PodGlimpse {
  return glimpse;
}
