/** How a pod stands, in one word; pure. What was seen of it counts for more than what it is called. */
import type { PodRow } from '../../services/fleet-types.ts';

export type PodState = 'up' | 'draining' | 'suspected' | 'dead' | 'swept' | 'resting' | 'down';

export const STATE_LABEL: Record<PodState, string> = {
  up: 'Up',
  draining: 'Draining',
  suspected: 'Suspected',
  dead: 'Dead',
  swept: 'Swept',
  resting: 'Resting',
  down: 'Left',
};

export const STATE_ABOUT: Record<PodState, string> = {
  up: 'it claims and works',
  draining: 'it gives back what it has, and ends',
  suspected: 'it has been silent for longer than it said it might be: whoever leads fences it next',
  dead: 'it is fenced: what it held is given to others',
  swept: 'it was taken for dead: what it held was given to others',
  resting: 'it has nothing to do, and beats no more until it has; nobody takes it for dead',
  down: 'it left, and nothing of it is left',
};

/** What needs a look comes first; then whoever is there, oldest first. */
const ORDER: readonly PodState[] = [
  'suspected',
  'dead',
  'draining',
  'up',
  'resting',
  'swept',
  'down',
];

type Standing = Pick<PodRow, 'pod' | 'status' | 'isSilent' | 'desired' | 'deadBy'>;

export function stateOf(pod: Standing): PodState {
  if (pod.isSilent) return 'suspected';
  if (pod.status === 'dead') return 'dead';
  if (pod.status === 'down') {
    if (pod.desired === 'rest') return 'resting';
    return pod.deadBy === undefined || pod.deadBy === pod.pod ? 'down' : 'swept';
  }
  return pod.status === 'draining' || pod.desired === 'drain' ? 'draining' : 'up';
}

export function hasLeft(pod: Standing): boolean {
  return pod.status === 'down' && pod.desired !== 'rest';
}

export function sorted(pods: readonly PodRow[]): readonly PodRow[] {
  const rank = (pod: PodRow) => (pod.isLeader ? -1 : ORDER.indexOf(stateOf(pod)));
  return [...pods].sort((a, b) => {
    const by = rank(a) - rank(b);
    if (by !== 0) return by;
    return hasLeft(a) ? b.beatAt - a.beatAt : a.bornAt - b.bornAt;
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
  dead: 'had ended',
  gone: 'left no trace',
};

export function whyText(why: string): string {
  return WHY[why] ?? why;
}
