/** Bugs in how pods come to have their shares of what all of them may have out. */
import { type Mutant, tests } from './mutant.ts';

export const THROTTLE: readonly Mutant[] = [
  {
    name: 'newcomers-call-at-once',
    breaks: 'each of many pods that join at once has a call out before it knows of the others',
    changes: [
      {
        file: 'src/throttle/fleet/fleet-shares.ts',
        find: 'if (this.#heardCount === 0) return 0;',
        put: 'if (this.#heardCount === 0) return 1;',
      },
    ],
    command: tests('throttle/shared-apis', 'joins'),
    shows: /calls nothing before its first heartbeat is answered/,
  },
  {
    name: 'share-by-another-report',
    breaks: 'a pod finds its share by what it told last, and not by what was counted',
    changes: [
      {
        file: 'src/throttle/fleet/told-list.ts',
        find: 'if (counted.has(tokenOf(key, mark)))',
        put: 'if (counted.size > 0 || counted.has(tokenOf(key, mark)))',
      },
    ],
    command: tests('throttle/slow-store'),
    shows: /pods share the whole limit where a heartbeat takes/,
  },
  {
    name: 'words-that-were-missed-unheeded',
    breaks: 'less by a word that a pod never heard was given on, and is used by both',
    changes: [
      {
        file: 'src/throttle/fleet/lease.ts',
        find: 'this.#heedSkipped(published, formerEpoch);',
        put: '',
      },
    ],
    command: tests('throttle/estimator', 'never heard'),
    shows: /what a pod lost by a word that it never heard is not its own/,
  },
];
