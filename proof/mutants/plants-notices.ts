/** Bugs in notifications: pods that wake for nothing, and tasks that wait for a ladder. */
import { type Mutant, tests } from './mutant.ts';

const NOTICE = 'src/store/notice.ts';
const HINTER = 'src/store/postgres/hinter.ts';
const CLAIMER = 'src/fleet/claimer.ts';
const notices = tests('test/store/notice.test.ts');
const hinter = tests('test/store/postgres-hinter.test.ts');
const claimer = tests('test/fleet/claimer.test.ts');

export const NOTICES: readonly Mutant[] = [
  {
    name: 'every-pod-for-every-task',
    breaks: 'each task makes every pod look, and pickup grows with the fleet',
    changes: [
      {
        file: NOTICE,
        find: '  if (count === undefined) return undefined;',
        put: '  if (count === undefined || count === 1) return undefined;',
      },
    ],
    command: notices,
    shows: /of one task one pod of many looks at once/,
  },
  {
    name: 'no-pod-in-reserve',
    breaks: 'a task for which a full or dead pod was called waits for a ladder',
    changes: [{ file: NOTICE, find: 'const RESERVES = 2;', put: 'const RESERVES = 0;' }],
    command: notices,
    shows: /of one task one pod of many looks at once/,
  },
  {
    name: 'called-without-the-route',
    breaks: 'pods are called that cannot run the task, and those that can are not',
    changes: [
      {
        file: NOTICE,
        find: 'routes.every((route) => group.routes.includes(route))',
        put: 'routes.length > 0 && group.pods.length > 0',
      },
    ],
    command: notices,
    shows: /only pods that have every route of the tasks are called/,
  },
  {
    name: 'trickle-held-up',
    breaks: 'a second notification waits for the quiet time of the first',
    changes: [{ file: HINTER, find: 'const BURST = 8;', put: 'const BURST = 1;' }],
    command: hinter,
    shows: /a trickle is notified at once/,
  },
  {
    name: 'gathered-and-forgotten',
    breaks: 'what was gathered under load is never notified',
    changes: [
      {
        file: HINTER,
        find: '() => this.#send(hint), { idle: true }',
        put: '() => void delete kind.cancel, { idle: true }',
      },
    ],
    command: hinter,
    shows: /what was gathered calls as many pods as all of it needs/,
  },
  {
    name: 'old-list-of-pods',
    breaks: 'pods are named that went long ago',
    changes: [
      {
        file: HINTER,
        find: 'nowMs - this.#groupsMs < PODS_MS_MAX',
        put: 'this.#groupsMs > Number.NEGATIVE_INFINITY',
      },
    ],
    command: hinter,
    shows: /a list of pods that is older than ten seconds names none of them/,
  },
  {
    name: 'notified-during-a-look',
    breaks: 'what is notified while a claim is under way waits for the ladder',
    changes: [
      {
        file: CLAIMER,
        find: 'if (this.#claiming) this.#wantedMs = Math.min(this.#wantedMs, dueMs);',
        put: 'if (this.#claiming) return;',
      },
    ],
    command: claimer,
    shows: /a hint makes it look at once, and one that comes during a look is not lost/,
  },
  {
    name: 'ladder-after-each-notification',
    breaks: 'a pod looks five times more for each task that it was called for',
    changes: [
      {
        file: CLAIMER,
        find: 'if (tasks.length > 0 && !isNotified) this.#ladder.reset();',
        put: 'if (tasks.length > 0) this.#ladder.reset();',
      },
    ],
    command: claimer,
    shows: /what a notification brought sends no pod down its ladder again/,
  },
];
