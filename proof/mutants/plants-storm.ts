/** Bugs in what is counted, judged and obeyed, for which a storm has to come across the right moment. */
import { type Mutant, tool } from './mutant.ts';

/** Until the first of them that fails. */
const storm = tool('proof/main.ts', 'simulate', '--seeds', '90', '--small', '--first');
/** Of full size, for what needs a fleet that has worked for a while. */
const longStorm = tool('proof/main.ts', 'simulate', '--from', '70', '--seeds', '25', '--first');

export const STORMS: readonly Mutant[] = [
  {
    name: 'retries-forgotten',
    breaks: 'failures are recorded, and the row of the task does not count them (I32)',
    changes: [
      {
        file: 'src/fleet/held-run.ts',
        find: "if (record.event === 'FAILED' || record.event === 'EXHAUSTED') this.#retries++;",
        put: "if (record.event === 'EXHAUSTED') this.#retries++;",
      },
    ],
    command: storm,
    shows: /I29 I32: .* failed \d+ times, and \d+ were counted/,
  },
  {
    name: 'crashes-forgiven',
    breaks: 'a task that kills its owners is forgiven though no step of it was completed (I29)',
    changes: [
      {
        file: 'src/fleet/end-words.ts',
        find: 'step !== undefined && next !== step && next',
        put: 'step !== undefined && next',
      },
    ],
    command: storm,
    shows: /I29 I32: .* left \d+ crashes of \d+/,
  },
  {
    name: 'attempts-beyond-the-last',
    breaks:
      'a step is tried once more than its machine allows, as no other machine here would (I32)',
    changes: [
      {
        file: 'src/engine/judge.ts',
        find: 'if (attempt >= policy.attemptMax)',
        put: 'if (attempt > policy.attemptMax)',
      },
    ],
    command: storm,
    shows: /I29 I32: .* is of attempt \d+ of \d+/,
  },
  {
    name: 'cancel-not-passed-on',
    breaks: 'an owner hears that its run is to be cancelled, and goes on with it',
    changes: [
      {
        file: 'src/fleet/controls.ts',
        find: 'if (held?.epoch !== epoch || held.isOver) continue;',
        put: "if (control === 'cancel' || held?.epoch !== epoch || held.isOver) continue;",
      },
    ],
    command: storm,
    shows: /cancel: .* its owner was told to cancel it/,
  },
  {
    name: 'sweep-by-whoever-is-back',
    breaks: 'a pod that was itself away takes others for dead (I28)',
    changes: [
      {
        file: 'src/fleet/watch.ts',
        find: 'nowMs - this.#steadySinceMs >= 2 * this.#options.silentMs',
        put: 'nowMs - this.#steadySinceMs >= 0 * this.#options.silentMs',
      },
    ],
    command: storm,
    shows: /I28: .* and has been heard for \d+ ms/,
  },
  {
    name: 'mass-death-blamed-on-tasks',
    breaks: 'where more than half are missing, each task is blamed (I28)',
    changes: [
      {
        file: 'machines/recovery/sweep.ts',
        find: 'takeAll(recovery, pod, why, !isOutage && !wasWilling)',
        put: 'takeAll(recovery, pod, why, !wasWilling)',
      },
    ],
    command: longStorm,
    shows: /I28: crashes of .* were counted with \d+ of \d+ missing/,
  },
];
