// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in how tasks come in and are given out. */
import { type Mutant, tests } from './mutant.ts';

const CLAIM = 'src/store/postgres/step-tracker-claim.sql.ts';
const LOOK = 'src/store/postgres/ready-head.sql.ts';
const SWEEP = 'src/store/postgres/step-tracker-sweep.sql.ts';
const TASKS = 'src/store/postgres/step-tracker.sql.ts';
const claims = tests('test/store/postgres.store.test.ts', '^the postgres store claims');

export const CLAIMS: readonly Mutant[] = [
  {
    name: 'claim-ignores-versions',
    breaks: 'a pod claims what it has no definition of (I33)',
    changes: [
      {
        file: LOOK,
        find: 'from unnest($2::text[], $6::float8[]) as asked (route, due_from)',
        put: "from (select other.route, asked.due_from from unnest($2::text[], $6::float8[]) as asked (route, due_from) join step_tracker other on split_part(other.route, '@', 1) = split_part(asked.route, '@', 1)) as every",
      },
    ],
    command: claims,
    shows: /a pod gets only what it says it can run/,
  },
  {
    name: 'claim-before-its-time',
    breaks: 'what is due later is claimed now (I31)',
    changes: [
      {
        file: CLAIM,
        find: 'and run_at >= wanted.due_from and run_at <= now()',
        put: 'and run_at >= wanted.due_from',
      },
      {
        file: CLAIM,
        find: 'and not task.paused and task.run_at <= now() and task.${PINNED[kind]}',
        put: 'and not task.paused and task.${PINNED[kind]}',
      },
    ],
    command: claims,
    shows: /a parked task is nobody’s until it is due/,
  },
  {
    // A limit that the planner cannot see is no bug here: it was tried, and the index is taken all
    // the same. What sends it past the index is a head that is not written as the index is.
    name: 'head-past-its-index',
    breaks: 'a claim reads the whole crowd for the few that it takes',
    changes: [
      {
        file: LOOK,
        find: "sql`status = 'pending' and not paused and crashes < 2",
        put: "sql`status = 'pending' and not paused and crashes + 0 < 2",
      },
    ],
    command: tests('test/store/postgres-plans.store.test.ts', 'a claim'),
    shows: /looks at what it takes, and not at the crowd/,
    isSlow: true,
  },
  {
    name: 'rival-not-looked-at-again',
    breaks: 'by compare-and-set, a claim that waited for a rival takes what that one has (I9)',
    changes: [
      {
        file: CLAIM,
        find: 'task.claim_epoch = pick.claim_epoch and ${isClaimable(kind)}',
        put: 'task.task_id is not null',
      },
    ],
    command: tests('test/store/postgres-fences.store.test.ts', 'by compare-and-set'),
    shows: /by compare-and-set, a claim that waits for a rival/,
  },
  {
    name: 'suspects-for-everybody',
    breaks: 'a task that has killed two processes is claimed by ordinary pods (I29)',
    changes: [
      {
        file: LOOK,
        find: "sql`status = 'pending' and not paused and crashes < 2",
        put: "sql`status = 'pending' and not paused",
      },
      { file: CLAIM, find: '  ready: sql`crashes < 2`,', put: '  ready: sql`crashes >= 0`,' },
    ],
    command: claims,
    shows: /H10: what killed its process twice is left to claimers of suspects/,
  },
  {
    name: 'key-ignored',
    breaks: 'one key gives two tasks (I6)',
    changes: [
      {
        file: TASKS,
        find: '         payload, key, key_ms, retries_max,\n         case when deadline_ms',
        put: '         payload, null, key_ms, retries_max,\n         case when deadline_ms',
      },
    ],
    command: tests(
      'test/store/postgres.store.test.ts',
      'a key that is there gives the task that has it',
    ),
    shows: /a key that is there gives the task that has it/,
  },
  {
    name: 'redrive-without-generation',
    breaks: 'a redrive that is pressed twice makes two generations (I30)',
    changes: [
      {
        file: 'src/store/decide.ts',
        find: 'revisionOf(task).startsWith(`${seen}.`);',
        put: 'seen <= `${task.generation}`;',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store what people change'),
    shows: /H11: a redrive that was pressed before the last end comes too late/,
  },
  {
    name: 'cancel-overlooks-the-records',
    breaks: 'a task whose records tell its end is cancelled by whoever takes it over (I4)',
    changes: [
      {
        file: 'src/store/postgres/step-tracker-sweep.sql.ts',
        find: `(control = 'cancel' and not has_told_its_end) is true`,
        put: `(control = 'cancel') is true`,
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store taking over'),
    shows: /I4: what has ended by its records/,
  },
  {
    name: 'cancel-overwrites-an-end',
    breaks: 'a task that has ended gets another outcome (I4)',
    changes: [
      {
        file: 'src/store/decide.ts',
        find: `return already;
  if (hasEnded(task)) return refused('ended', \`it is \${task.status}\`);
  if (task.status === 'claimed') {
    // The first`,
        put: `return already;
  if (task.status === 'claimed') {
    // The first`,
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store what people change'),
    shows:
      /H12: a task that nobody holds is cancelled at once|H12: a completion that comes first wins/,
  },
  {
    name: 'retention-ignores-references',
    breaks: 'a task is removed that another one calls its parent (I1)',
    changes: [
      {
        file: SWEEP,
        find: 'not exists (\n           select 1 from step_tracker child where child.parent_id = task.task_id offset 0)\n         and ',
        put: '',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store retention'),
    shows: /a task that another one calls its parent is kept/,
  },
  {
    name: 'retention-of-the-living',
    breaks: 'retention removes what ended a moment ago (I1)',
    changes: [
      {
        file: SWEEP,
        find: `       and finished_at < now() - \${spanOf(ms)}\n`,
        put: `       and \${ms} is not null\n`,
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store retention'),
    shows: /it is told whether anything is hopeless, or old|what ended longer ago than allowed/,
  },
  {
    name: 'version-nought-let-in',
    breaks: 'a task that no pod can ever run comes in, and stays pending without end',
    changes: [
      {
        file: 'src/store/runnable.ts',
        find: 'if (!(version >= 1)) {',
        put: 'if (!(version >= 0)) {',
      },
    ],
    command: tests('test/store/memory.test.ts', 'what no pod can run'),
    shows: /a task of version 0 is refused, and all that came with it/,
  },
  {
    name: 'stranger-waits-for-ever',
    breaks: 'a task of a machine that no pod ever had stays pending without end',
    changes: [
      {
        file: SWEEP,
        find: '     where route is not null and not exists (',
        put: '     where route is null and not exists (',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store retention'),
    shows: /a task of a machine that no pod has ever had is failed after the grace/,
  },
  {
    name: 'unknown-version-fails',
    breaks: 'a task of a version that a deploy brings next fails after the grace',
    changes: [
      {
        file: SWEEP,
        find: "        where machine = regexp_replace(found.route, '@[^@]*$', ''))),",
        put: '        where route = found.route)),',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store what no pod can run'),
    shows: /an unknown version of a known machine stays, however long/,
  },
];
