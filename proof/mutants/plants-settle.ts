// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/**
 * Bugs in how owners let go of tasks. Completing, releasing and parking are one statement here, so the
 * epoch is dropped from it once for all of them, and once for each that could be forgotten alone. An
 * archive is kept apart by the epoch in its key: see the plants of histories.
 */
import { type Mutant, tests, tool } from './mutant.ts';

const SETTLE = 'src/store/postgres/step-tracker-settle.sql.ts';
const SETTLER = 'src/store/postgres/settler.ts';
const EPOCH = 'task.generation = leaving.generation and task.claim_epoch = leaving.epoch';
const edges = tests('test/store/postgres-edges.store.test.ts');
const settling = tests('test/store/postgres.store.test.ts', '^the postgres store settling');

/** Whoever comes with another epoch gets through where the task goes to one of these. */
function epochForgottenFor(name: string, statuses: string, command = settling): Mutant {
  const put = `task.generation = leaving.generation
       and (task.claim_epoch = leaving.epoch or leaving.goes_to in (${statuses}))`;
  return {
    name,
    breaks: 'a claim that no longer stands changes a task that is another claim by now (I8)',
    changes: [{ file: SETTLE, find: EPOCH, put }],
    command,
    shows: /an earlier epoch|of an earlier claim/,
  };
}

export const SETTLES: readonly Mutant[] = [
  epochForgottenFor('complete-without-epoch', `'completed', 'failed', 'cancelled'`),
  epochForgottenFor('release-without-epoch', `'pending'`, edges),
  epochForgottenFor('park-without-epoch', `'waiting'`, edges),
  {
    name: 'settle-without-generation',
    breaks: 'a settlement of one generation ends another',
    changes: [{ file: SETTLE, find: EPOCH, put: 'task.claim_epoch = leaving.epoch' }],
    command: settling,
    shows: /an earlier epoch, another pod, an unknown task/,
  },
  {
    name: 'settle-by-anybody',
    breaks: 'a pod settles what another pod has claimed',
    changes: [
      {
        file: SETTLE,
        find: `       and task.claimed_by = $1 and task.status = 'claimed'\`)}
    returning`,
        put: `       and task.status = 'claimed'\`)}
    returning`,
      },
    ],
    command: settling,
    shows: /an earlier epoch, another pod, an unknown task/,
  },
  {
    name: 'row-count-ignored',
    breaks: 'a settlement that wrote nothing is taken for one that stood',
    changes: [
      {
        file: SETTLER,
        find: `kind: stood.has(task) ? 'stood' : (others?.get(task) ?? 'lost')`,
        put: `kind: stood.has(task) ? 'stood' : (others?.get(task) ?? 'stood')`,
      },
    ],
    command: settling,
    shows: /an earlier epoch, another pod, an unknown task|every settlement has its own answer/,
  },
  {
    name: 'end-raises-the-epoch',
    breaks: 'whoever lost the answer does not know its own end again (I5)',
    changes: [
      {
        file: SETTLE,
        find: 'claim_epoch = case when ${hasEnded} then task.claim_epoch\n',
        put: 'claim_epoch = case when false then task.claim_epoch\n',
      },
    ],
    command: settling,
    shows:
      /a settlement whose answer was lost is recognised as done|an outcome is stored with its result/,
  },
  {
    name: 'release-keeps-the-epoch',
    breaks: 'a task changes its owner under one epoch (I7)',
    changes: [
      {
        file: SETTLE,
        find: "             else ${raised('task.claim_epoch')} end,",
        put: '             else task.claim_epoch end,',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store claims'),
    shows: /every change of owner raises the epoch/,
  },
  {
    name: 'complete-without-tail',
    breaks: 'a task is completed, and the rest of its history is nowhere (I16)',
    changes: [
      {
        file: 'src/fleet/held-run.ts',
        find: '      epoch: this.claim.epoch,\n      tail: this.tail(),',
        put: '      epoch: this.claim.epoch,\n      tail: undefined,',
      },
    ],
    command: tool('proof/main.ts', 'simulate', '--seeds', '10'),
    shows: /^seed \d+: .*histor/,
  },
  {
    name: 'release-without-state',
    breaks: 'whoever gets a task that was given back does not get what was done of it (I16)',
    changes: [
      {
        file: 'src/fleet/held-run.ts',
        find: '      ...this.claim,\n      tail: this.tail(),',
        put: '      ...this.claim,\n      tail: undefined,',
      },
    ],
    command: tests('test/fleet/drain.test.ts', 'H8: a phase in hand finishes'),
    shows: /H8: a phase in hand finishes/,
  },
  {
    name: 'tail-not-written',
    breaks: 'the settlement stands, and what came with it is dropped (I16)',
    changes: [
      {
        file: SETTLE,
        find: 'from settled where tail_events is not null',
        put: 'from settled where tail_events is not null and false',
      },
    ],
    command: settling,
    shows: /an outcome is stored with its result/,
  },
  {
    name: 'bad-value-not-set-aside',
    breaks: 'one value that the store cannot hold stops everything that this pod has to say',
    changes: [
      {
        file: SETTLER,
        find: `function refused({ task }: Settlement, error: unknown): SettleAnswer | undefined {
  return isBadValue(error) ?`,
        put: `function refused({ task }: Settlement, error: unknown): SettleAnswer | undefined {
  return isBadValue(error) && task === undefined ?`,
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store settling a value'),
    shows: /a value the store cannot hold is refused; the others of its batch stand/,
  },
  {
    name: 'cancel-forgotten-at-release',
    breaks: 'a cancellation that was asked for is lost when its owner lets go of the task',
    changes: [
      {
        file: SETTLE,
        find: "const isCancelled = sql`(${isParked} and task.control = 'cancel') is true`;",
        put: "const isCancelled = sql`(${isParked} and task.control = 'never') is true`;",
      },
    ],
    command: settling,
    shows: /a cancellation that was asked for ends the task/,
  },
];
