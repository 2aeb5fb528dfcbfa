/** Bugs that let a run go on too early, or with what is not its own, and that a storm has to show. */
import { type Mutant, tests, tool } from './mutant.ts';

/** Small seeds, since most of what is planted here comes up in a few of them. */
const seeds = (count: number) =>
  tool('proof/main.ts', 'simulate', '--seeds', `${count}`, '--small', '--first');

export const WAITS: readonly Mutant[] = [
  {
    name: 'every-wait-is-over',
    breaks: 'whoever takes a run over does not wait for what its last owner waited for (I31)',
    changes: [
      {
        file: 'src/fleet/acceptor.ts',
        find: 'isDue: task.lastSeq === (last?.seq ?? -1),',
        put: 'isDue: true,',
      },
    ],
    command: seeds(90),
    shows: /I31: .* went on with/,
  },
  {
    name: 'parked-wait-never-over',
    breaks: 'whoever dies in the phase after a wait that was parked has made no attempt (I29, I41)',
    changes: [
      {
        file: 'src/engine/holder.ts',
        find: 'takenBy(pod, interruption, isOver && restMs === 0)',
        put: 'takenBy(pod, interruption)',
      },
    ],
    command: tests('test/fleet/parks.test.ts', 'I29'),
    shows: /I29, I41: who dies in the phase after a backoff that was parked/,
  },
  {
    name: 'given-and-never-heard-of',
    breaks:
      'a cut in a run that was left in order counts only once the store knows who had it (I29)',
    changes: [
      {
        file: 'src/engine/holder.ts',
        find: 'isOver || !isBetween(run, last.event) ? known : undefined;',
        put: '!isBetween(run, last.event) ? known : undefined;',
      },
    ],
    command: tests('test/fleet/parks.test.ts', 'I29'),
    shows: /I29: and so has who dies there before the store has heard/,
  },
  {
    name: 'drain-gives-time',
    breaks: 'what a handler finishes after its time counts, where a drain has told it to hurry',
    changes: [
      {
        file: 'src/engine/phase-call.ts',
        find: "if (this.#givenUp?.why === 'drained') this.#givenUp = outOfTime;",
        put: "if (this.#givenUp?.why === 'drained') return;",
      },
    ],
    command: tests('test/engine/drain.test.ts', 'hurried handler'),
    shows: /what a hurried handler finishes after its deadline counts for nothing/,
  },
  {
    name: 'first-wait-counts',
    breaks: 'a run that was taken over waits for as long as its first wait was (I31)',
    changes: [
      {
        file: 'src/engine/live-run.ts',
        find: "records.findLast(({ event }) => 'dueAt' in event)",
        put: "records.find(({ event }) => 'dueAt' in event)",
      },
    ],
    command: seeds(90),
    shows: /I31: .* went on with/,
  },
  {
    name: 'drain-ends-waits',
    breaks: 'what a pod that drains gives back goes on at once, whatever it waits for (I31)',
    changes: [
      {
        file: 'src/engine/drainer.ts',
        find: 'park(run, afterMs);',
        put: 'park(run, afterMs * 0);',
      },
    ],
    command: seeds(90),
    shows: /I31: .* went on with/,
  },
  {
    name: 'adopts-another-generation',
    breaks: 'records of one generation are taken for those of the next (I30)',
    changes: [
      {
        file: 'src/fleet/adopter.ts',
        find: 'if (found?.isUsable && found.hold.generation === task.generation) {',
        put: 'if (found?.isUsable) {',
      },
    ],
    command: tests('test/fleet/adopt-redriven.test.ts'),
    shows: /records of an earlier generation are not the beginning of the next/,
  },
  {
    name: 'claims-on-a-full-disk',
    breaks: 'a pod that can write nothing takes tasks from those who can (I36)',
    changes: [
      {
        file: 'src/fleet/life.ts',
        find: 'this.isDraining || journal.stalledBy || !this.isCurrent()',
        put: 'this.isDraining || !this.isCurrent()',
      },
    ],
    command: seeds(90),
    shows: /I36: .* claims, and its journal cannot be written/,
  },
];
