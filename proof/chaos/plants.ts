/** Bugs to plant in a copy of the built package, to show that the judges see them. */

export interface Plant {
  /** What of the report gives it away. */
  readonly shows: readonly string[];
  /** File under dist, what is there, what is put in its place. */
  readonly changes: readonly (readonly [file: string, find: string, put: string])[];
}

const SETTLE = 'store/postgres/step-tracker-settle.sql.js';
const SWEEP = 'store/postgres/step-tracker-sweep.sql.js';

export const PLANTS: Readonly<Record<string, Plant>> = {
  /** A settle that neither looks at the claim nor at the pod. */
  'settle-unfenced': {
    shows: ['zombieWrites'],
    changes: [
      [SETTLE, 'from leaving, fence', 'from leaving'],
      [SETTLE, `task.claim_epoch = leaving.epoch`, 'true'],
      [SETTLE, `and task.claimed_by = $1 and task.status = 'claimed'`, ''],
    ],
  },
  /** Whoever takes over from a dead pod does so under its epoch. */
  'take-keeps-epoch': {
    shows: ['zombieWrites', 'doubled'],
    changes: [
      [
        SWEEP,
        `claim_epoch = \${to === 'taker' ? nextEpoch : raised('task.claim_epoch')}`,
        'claim_epoch = task.claim_epoch',
      ],
    ],
  },
  /** The next owner begins anew, whatever the store has. */
  'history-ignored': {
    shows: ['doubled'],
    changes: [['fleet/acceptor.js', 'rows = rowsOf(task.task, own, task.lastHash);', 'rows = [];']],
  },
  /** A new process goes on from the store, and forgets what is on its disk. */
  'disk-ignored': {
    shows: ['doubled'],
    changes: [
      ['fleet/adopter.js', 'if (found?.isUsable', 'if (false && found?.isUsable'],
      ['fleet/adopter.js', 'await footing.archive(tails);', ''],
    ],
  },
  /** Now and then an end is taken for settled that was never sent. */
  'settle-forgotten': {
    shows: ['doubled', 'stuck'],
    changes: [
      [
        'fleet/settler.js',
        'this.#push({ held, settlement });',
        `if (Number('0x' + held.claim.task.slice(-2).replace(/[^0-9A-F]/g, '0')) < 8)
         return void setTimeout(() => this.#ports.onOver([held], new Set()), 5);
       this.#push({ held, settlement });`,
      ],
    ],
  },
  /** The record before the last does not reach the store. */
  'record-lost': {
    shows: ['violations'],
    changes: [
      [
        'fleet/history.js',
        'records.map(textOf)',
        `records.filter((r) => records.length < 4 || r.seq !== last.seq - 1).map(textOf)`,
      ],
    ],
  },
  /** A phase that was interrupted counts as done. */
  'end-invented': {
    shows: ['lost'],
    changes: [
      [
        'store/postgres/step-tracker-sweep.sql.js',
        `when pinned_to is not null then 'waiting' else 'pending' end`,
        `when pinned_to is not null then 'waiting' else 'cancelled' end`,
      ],
    ],
  },
  /** What was carried over of a damaged journal goes on by itself, without a claim. */
  'held-woken': {
    shows: ['zombieWrites'],
    changes: [['journal/prove-runs.js', 'open.generation === null', 'true']],
  },
  /** Each refused registration leaves the thread of its heart behind. */
  'threads-kept': {
    shows: ['violations'],
    changes: [['fleet/enter.js', 'life.abandon();\n        throw error;', 'throw error;']],
  },
  /** A process on a clone does not look for the one that has its journal. */
  'clone-joins': {
    shows: ['violations'],
    changes: [
      ['fleet/rivals.js', 'isUp(pod) && !journal.owners.provesDead(pod.pod)', 'false'],
      ['fleet/rivals.js', 'row.journal === journal.id && !journal', 'false && !journal'],
    ],
  },
};
