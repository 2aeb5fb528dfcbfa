/** What tasks may want besides to be done: a queue of their own, a turn, or to come after another. */
import type { TaskOptions } from '../../src/fleet/tasks.ts';
import type { Random, RunId } from '../../src/ground/index.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { Traits } from './kept-seeds.ts';
import { LIMITED_NAMES } from './limited-shapes.ts';

/** Queues that people limit, pause and resume. */
export const QUEUES = ['narrow', 'wide'] as const;

/** So many tasks share a key, if every second one has one. */
const TASKS_PER_KEY = 10;
const FOLLOWS_EVERY = 3;

export type Wishes = Pick<TaskOptions, 'queue' | 'serialKey' | 'follows'>;

/** What there is to wish for. */
export interface Offer extends Pick<Partial<Traits>, 'hasFlow' | 'hasFollowers'> {
  readonly taskCount: number;
  /** Tasks that are there, and may be followed. */
  readonly known: () => readonly RunId[];
}

/** A run that has little time is judged by its deadline: it is kept waiting by nobody. */
export function wishesFor(machine: string, random: Random, offer: Offer): Wishes {
  if (LIMITED_NAMES.includes(machine)) return {};
  return {
    ...(offer.hasFlow ? turnFor(random, offer.taskCount) : {}),
    ...(offer.hasFollowers ? followsFor(random, offer.known()) : {}),
  };
}

function turnFor(random: Random, taskCount: number): Wishes {
  const keyCount = Math.ceil(taskCount / TASKS_PER_KEY);
  const serialKey = below(random, 2) === 0 ? `line-${below(random, keyCount)}` : undefined;
  return { queue: [...QUEUES, undefined][below(random, QUEUES.length + 1)], serialKey };
}

function followsFor(random: Random, known: readonly RunId[]): Wishes {
  const run = known[below(random, known.length)];
  if (run === undefined || below(random, FOLLOWS_EVERY) > 0) return {};
  return { follows: { run, on: below(random, 2) === 0 ? 'success' : 'end' } };
}
