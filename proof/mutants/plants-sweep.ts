// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in the rescue: who is swept, when, and what becomes of their tasks. */
import { type Mutant, tests } from './mutant.ts';

const SWEEP = 'src/store/postgres/step-tracker-sweep.sql.ts';
const EPOCH = "claim_epoch = ${to === 'taker' ? nextEpoch : raised('task.claim_epoch')},";
const taking = tests('test/store/postgres.store.test.ts', '^the postgres store taking over');
const left = tests('test/store/postgres.store.test.ts', '^the postgres store what was left');

export const SWEEPS: readonly Mutant[] = [
  {
    name: 'adopt-without-epoch',
    breaks: 'a successor goes on under the epoch of its predecessor (I7)',
    changes: [
      {
        file: SWEEP,
        find: EPOCH,
        put: "claim_epoch = ${to === 'taker' ? 'task.claim_epoch' : raised('task.claim_epoch')},",
      },
      {
        file: SWEEP,
        find: 'import { ended, fenceOf, keyUntil, nextEpoch, onceFound, raised, spanOf, sql }',
        put: 'import { ended, fenceOf, keyUntil, onceFound, raised, spanOf, sql }',
      },
    ],
    command: taking,
    shows: /H5: a successor on the same disk takes its predecessor’s tasks over/,
  },
  {
    name: 'sweep-without-epoch',
    breaks: 'what was swept can still be settled by the dead: the epoch stays (I8)',
    changes: [
      {
        file: SWEEP,
        find: EPOCH,
        put: "claim_epoch = ${to === 'taker' ? nextEpoch : 'task.claim_epoch'},",
      },
    ],
    command: taking,
    shows: /what a dead pod held is pending under a new epoch/,
  },
  {
    name: 'requeue-without-jitter',
    breaks: 'the load of a dead pod comes back as one blow (I32)',
    changes: [
      {
        file: SWEEP,
        find: 'random()',
        put: '0.5',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store the sweep'),
    shows: /requeued tasks become due within the spread/,
  },
  {
    name: 'crashes-not-counted',
    breaks: 'a task that kills its owners does so for ever (I29)',
    changes: [
      {
        file: SWEEP,
        find: 'pinned_to is null and not left_itself and was_inside as is_counted',
        put: 'false as is_counted',
      },
    ],
    command: taking,
    shows: /what a dead pod held is pending under a new epoch|where it is known what ran/,
  },
  {
    name: 'deploys-counted-as-crashes',
    breaks: 'what a pod left that ended by its own word counts as cut off, and as an attempt',
    changes: [
      {
        file: SWEEP,
        find: `then 'cut' else 'left' end`,
        put: `then 'cut' else 'cut' end`,
      },
    ],
    command: left,
    shows: /H8: leftovers of a pod that fenced itself/,
  },
  {
    name: 'adoption-counts-a-deploy',
    breaks: 'adoption counts a crash for a pod that left in order',
    changes: [
      {
        file: SWEEP,
        find: 'pinned_to is null and not left_itself and was_inside as is_counted',
        put: 'pinned_to is null and was_inside as is_counted',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', 'what was left H8: a successor'),
    shows: /H8: a successor is told of all that its predecessor left, and counts nothing/,
  },
  {
    name: 'adoption-counts-a-deploy-in-memory',
    breaks: 'the same in the tables that the simulation stands on',
    changes: [
      {
        file: 'src/store/memory/take.ts',
        find: 'const isCrash = !hasLeft && ',
        put: 'const isCrash = (hasLeft || !hasLeft) && ',
      },
    ],
    command: tests('test/fleet/left.test.ts'),
    shows: /the successor of a drained pod counts no crash and no attempt/,
  },
  {
    name: 'left-work-not-probed',
    breaks: 'what a drained pod left is not probed (I41)',
    changes: [
      {
        file: 'src/store/memory/take.ts',
        find: 'task.interrupted = leftBy(tables, task);',
        put: `task.interrupted = leftBy(tables, task) === 'cut' ? 'cut' : undefined;`,
      },
    ],
    command: tests('test/fleet/left.test.ts'),
    shows: /FAIL .*test\/fleet\/left/,
  },
  {
    name: 'left-work-forgotten-by-the-record',
    breaks: 'whoever takes over what was left records it, and does not probe (I41)',
    changes: [
      {
        file: 'src/machine/run-state.ts',
        find: 'return { ...state, mayBeAhead, dueAt, mustProbe: canProbe(plan, state.at) };',
        put: 'return { ...state, mayBeAhead, dueAt };',
      },
    ],
    command: tests('test/fleet/left.test.ts'),
    shows: /I41: a run that a drained pod was inside of is probed/,
  },
  {
    name: 'deploy-counted-as-an-attempt',
    breaks: 'a successor that finds the phase of a drained pod open counts an attempt',
    changes: [
      {
        file: 'src/engine/holder.ts',
        find: `const inside = known === 'left' && !taken.isOwed ? 'left' : 'cut';`,
        put: `const inside = known === 'left' && taken.isOwed ? 'left' : 'cut';`,
      },
    ],
    command: tests('test/fleet/left.test.ts'),
    shows: /counts no crash and no attempt: its last word was lost/,
  },
  {
    name: 'host-run-given-away',
    breaks: 'a run that belongs to a host is given to another (H14)',
    changes: [
      {
        file: SWEEP,
        find: `         when pinned_to is not null then 'waiting' else 'pending' end`,
        put: `         else 'pending' end`,
      },
    ],
    command: taking,
    shows: /H14: a run of a host is not given to another/,
  },
  {
    name: 'one-look-is-enough',
    breaks: 'whom the store alone calls silent is swept, after an outage everybody (I28)',
    changes: [
      {
        file: 'src/fleet/watch.ts',
        find: 'return Math.max(storeLeftMs, ownLeftMs);',
        put: 'return ownLeftMs > -Infinity ? storeLeftMs : 0;',
      },
    ],
    command: tests('test/fleet/watch.test.ts'),
    shows: /is not believed dead before its beat was seen twice|begins the count anew/,
  },
  {
    name: 'unsteady-pods-sweep',
    breaks: 'a pod that is only just back judges others (I28)',
    changes: [
      {
        file: 'src/fleet/watch.ts',
        find: 'nowMs - this.#steadySinceMs >= 2 * this.#options.silentMs',
        put: 'nowMs - this.#steadySinceMs >= 0 * this.#options.silentMs',
      },
    ],
    command: tests('test/fleet/watch.test.ts'),
    shows: /a pod is steady once it was heard without a break/,
  },
  {
    name: 'outage-counted-as-crashes',
    breaks: 'where more than half have fallen silent, their tasks are blamed (I28)',
    changes: [
      {
        file: 'machines/recovery/sweep.ts',
        find: 'takeAll(recovery, pod, why, !isOutage && !wasWilling)',
        put: 'takeAll(recovery, pod, why, !wasWilling)',
      },
    ],
    command: tests('test/fleet/sweep.test.ts', 'I28: where more than half'),
    shows: /I28: where more than half have fallen silent/,
  },
  {
    name: 'sweep-stops-at-the-first-batch',
    breaks: 'of what a dead pod held, the rest stays claimed by it (I38)',
    changes: [
      {
        file: 'machines/recovery/sweep.ts',
        find: '      if (taken.length > 0) continue;',
        put: '      if (taken.length > 1_000) continue;',
      },
    ],
    command: tests('test/machines/recovery/sweep.test.ts'),
    shows: /two and ten forced leaders come to the same as one/,
    isSlow: true,
  },
];
