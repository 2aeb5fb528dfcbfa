/** How a pod stands, in one word; pure. What was seen of it counts for more than what it is called. */
import type { PodRow } from '../../services/fleet-types.ts';

export type PodState = 'up' | 'draining' | 'suspected' | 'dead' | 'down';

export const STATE_LABEL: Record<PodState, string> = {
  up: 'Up',
  draining: 'Draining',
  suspected: 'Suspected',
  dead: 'Dead',
  down: 'Left',
};

export const STATE_ABOUT: Record<PodState, string> = {
  up: 'it claims and works',
  draining: 'it gives back what it has, and ends',
  suspected: 'it has been silent for longer than it said it might be: whoever leads fences it next',
  dead: 'it is fenced: what it held is given to others',
  down: 'it is gone, and nothing of it is left',
};

/** What needs a look comes first; then whoever is there, oldest first. */
const ORDER: readonly PodState[] = ['suspected', 'dead', 'draining', 'up', 'down'];

export function stateOf(pod: Pick<PodRow, 'status' | 'isSilent' | 'desired'>): PodState {
  if (pod.isSilent) return 'suspected';
  if (pod.status === 'dead' || pod.status === 'down') return pod.status;
  return pod.status === 'draining' || pod.desired === 'drain' ? 'draining' : 'up';
}

export function sorted(pods: readonly PodRow[]): readonly PodRow[] {
  const rank = (pod: PodRow) => (pod.isLeader ? -1 : ORDER.indexOf(stateOf(pod)));
  return [...pods].sort((a, b) => {
    const by = rank(a) - rank(b);
    if (by !== 0) return by;
    return stateOf(a) === 'down' ? b.beatAt - a.beatAt : a.bornAt - b.bornAt;
  });
}

/** Machines in their versions, without those that every pod has. */
export function ownRoutes(pod: Pick<PodRow, 'routes'>): readonly string[] {
  return pod.routes.filter((route) => !/^(recovery|fleet)\//.test(route)).sort();
}

/** By whom it was declared dead, as a person would say it. */
export function endOf(pod: PodRow, nameOf: (pod: string) => string): string | undefined {
  if (pod.deadBy === undefined) return undefined;
  return pod.deadBy === pod.pod ? 'it left by itself' : `fenced by ${nameOf(pod.deadBy)}`;
}

const WHY: Readonly<Record<string, string>> = {
  silent: 'fell silent',
  dead: 'was dead already',
  gone: 'left no trace',
};

export function whyText(why: string): string {
  return WHY[why] ?? why;
}
