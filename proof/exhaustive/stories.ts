/**
 * Small fixed courses of a fleet without chance faults: what is wanted of it, and what happens to its
 * pods on the way. Together they come to everything a pod does, recovery included.
 */
import type { Way } from './points.ts';

export interface TaskPlan {
  readonly machine: string;
  /** What it works on; even and odd ones sleep and fail differently. */
  readonly n: number;
  /** About how long a phase takes. */
  readonly pace: number;
  readonly afterMs?: number;
  readonly cancelMs?: number;
  /** Its effect is there before it begins: `check` hands it off. */
  readonly isThere?: boolean;
}

export interface Turn {
  readonly atMs: number;
  readonly pod: string;
  /** How it is struck; or it drains. */
  readonly how: Way | 'drain';
}

export interface Story {
  readonly name: string;
  readonly podCount: number;
  readonly tasks: readonly TaskPlan[];
  readonly turns: readonly Turn[];
  /** Before this it is as another story: its points are that one's. */
  readonly isOwnFromMs: number;
}

const TURN_MS = 700;

const SOME: readonly TaskPlan[] = [
  { machine: 'full', n: 1, pace: 500 },
  { machine: 'long', n: 2, pace: 300 },
  { machine: 'full', n: 3, pace: 1_200 },
];

export const STORIES: readonly Story[] = [
  {
    name: 'work',
    podCount: 2,
    tasks: [
      { machine: 'full', n: 1, pace: 60 },
      { machine: 'long', n: 3, pace: 40 },
      { machine: 'flaky', n: 4, pace: 30 },
      { machine: 'postponed', n: 5, pace: 30 },
      { machine: 'doomed', n: 7, pace: 20 },
      { machine: 'full', n: 8, pace: 30, isThere: true },
      { machine: 'plain', n: 9, pace: 1_500, cancelMs: 600 },
    ],
    turns: [],
    isOwnFromMs: 0,
  },
  { name: 'adopt', ...turned('kept'), isOwnFromMs: 0 },
  { name: 'sweep', ...turned('lost') },
  { name: 'fence', ...turned('pause') },
  { name: 'drain', ...turned('drain') },
  {
    name: 'redrive',
    podCount: 2,
    tasks: [
      { machine: 'mended', n: 1, pace: 60 },
      // Parked when it is cancelled.
      { machine: 'long', n: 3, pace: 40, cancelMs: 1_500 },
    ],
    turns: [],
    isOwnFromMs: 0,
  },
];

/** The pod that has the tasks comes to this, in the middle of them. */
function turned(how: Turn['how']): Omit<Story, 'name'> {
  const turns = [{ atMs: TURN_MS, pod: 'pod-2', how }];
  return { podCount: 2, tasks: SOME, turns, isOwnFromMs: TURN_MS };
}
