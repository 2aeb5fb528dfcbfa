// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in how queues and serial keys share claims, and in what a claim looks at. */
import { type Mutant, tests } from './mutant.ts';

const LOOK = 'src/store/postgres/ready-head.sql.ts';
const EDGE = 'src/store/postgres/claim-edge.ts';
const TURNS = 'src/store/postgres/turns.sql.ts';
const shares = tests('test/store/postgres.store.test.ts', '^the postgres store shares of queues');
const turns = tests('test/store/postgres.store.test.ts', '^the postgres store serial keys');
const plans = tests('test/store/postgres-plans.store.test.ts', 'a claim');

export const SHARES: readonly Mutant[] = [
  {
    name: 'oldest-of-all-queues-first',
    breaks: 'a crowd in one queue keeps all others waiting',
    changes: [
      {
        file: LOOK,
        find: 'priority desc, number, is_behind, queue, run_at, task_id',
        put: 'priority desc, run_at, task_id, number, is_behind, queue',
      },
    ],
    command: shares,
    shows: /a crowd in one queue keeps no other waiting/,
  },
  {
    name: 'look-begins-at-first-queue',
    breaks: 'of more queues than a claim takes tasks the last ones starve',
    changes: [
      {
        file: LOOK,
        find: "sql`coalesce($5::jsonb -> ${route} ->> (${urgency})::text, '')`",
        put: "sql`'' || left(${route} || ${urgency}, 0)`",
      },
    ],
    command: shares,
    shows: /of more queues than a claim takes tasks/,
  },
  {
    name: 'look-does-not-go-round',
    breaks: 'queues before the one that the last claim ended with are not looked at',
    changes: [
      {
        file: LOOK,
        find: 'and not hop.has_turned order by ${inPlaces} limit 1)',
        put: 'and false order by ${inPlaces} limit 1)',
      },
    ],
    command: shares,
    shows: /of more queues than a claim takes tasks/,
  },
  {
    name: 'share-is-all',
    breaks: 'a claim takes less than there is, where some queues have less than their share',
    changes: [
      {
        file: LOOK,
        find: 'where found.count = place.share and place.share < place.most',
        put: 'where false',
      },
    ],
    command: shares,
    shows: /a crowd in one queue keeps no other waiting/,
  },
  {
    name: 'locks-what-it-looks-at',
    breaks: 'a claim locks rows that it does not take',
    changes: [
      {
        file: LOOK,
        find: "rowsIn('place', 'limit place.share')",
        put: "rowsIn('place', 'limit place.share for update skip locked')",
      },
    ],
    command: tests('test/store/postgres-look.store.test.ts'),
    shows: /a claim locks what it takes/,
  },
  {
    name: 'edge-never-left',
    breaks: 'behind an old transaction every claim reads all that was taken since',
    changes: [
      { file: EDGE, find: 'return nowMs >= this.#restUntilMs;', put: 'return nowMs >= 0;' },
    ],
    command: tests('test/store/claim-edge.test.ts'),
    shows: /they take a small share of the time/,
  },
  {
    name: 'new-places-not-looked-for',
    breaks: 'behind an old transaction a new queue or a higher priority is not found',
    changes: [{ file: LOOK, find: 'where gap.number <= ${GAP_COUNT_MAX}', put: 'where false' }],
    command: plans,
    shows: /at known places looks at nothing before them/,
  },
  {
    name: 'known-places-from-the-edge',
    breaks: 'a look at known places reads all that was taken since',
    changes: [
      {
        file: LOOK,
        find: '${READY} and run_at >= ${place}.ready_from and run_at <= now()',
        put: '${READY} and run_at <= now()',
      },
    ],
    command: plans,
    shows: /at known places looks at nothing before them/,
  },
  {
    name: 'turn-behind-the-backlog',
    breaks: 'a serial key stands behind the whole backlog at every turn',
    changes: [{ file: TURNS, find: 'greatest(task.run_at, next.served_until)', put: 'now()' }],
    command: turns,
    shows: /a key keeps its place at each turn/,
  },
  {
    name: 'turn-before-others',
    breaks: 'a flood of one key keeps other keys waiting',
    changes: [
      { file: TURNS, find: 'greatest(task.run_at, next.served_until)', put: 'task.run_at' },
    ],
    command: turns,
    shows: /a flood of one key keeps no other key waiting/,
  },
  {
    name: 'one-round-for-all-priorities',
    breaks: 'an urgent stream in one queue keeps most other queues waiting for ever',
    changes: [
      {
        file: 'src/store/shares.ts',
        find: 'return `${priority} ${route}`;',
        put: 'return `0 ${route}`;',
      },
    ],
    command: shares,
    shows: /an urgent stream in one queue does not throw the round/,
  },
  {
    name: 'limited-queues-throw-the-round',
    breaks: 'a backlog in a queue with a limit keeps most other queues waiting for ever',
    changes: [
      {
        file: 'src/store/postgres/limits.ts',
        find: '({ ...row, is_limited: true })',
        put: '({ ...row, is_limited: undefined })',
      },
    ],
    command: shares,
    shows: /a queue with a limit does not throw the round/,
  },
  {
    name: 'empty-places-count',
    breaks: 'behind an old transaction places where nothing is left take the place of others',
    changes: [
      {
        file: LOOK,
        find: 'run_at >= known.ready_from and run_at <= now())',
        put: 'run_at >= known.ready_from and run_at <= now()) or true',
      },
    ],
    command: plans,
    shows: /at known places looks at nothing before them/,
  },
  {
    name: 'followers-by-a-join',
    breaks: 'retention compares everything that ended with everybody that waits for something else',
    changes: [
      { file: 'src/store/postgres/followers.sql.ts', find: ' collate "default"', put: '' },
      { file: 'src/store/postgres/followers.sql.ts', find: "'run' offset 0", put: "'run'" },
    ],
    command: tests('test/store/postgres-plans.store.test.ts', 'retention looks'),
    shows: /retention looks at what may go/,
  },
  {
    name: 'early-turn-stays-early',
    breaks: 'a turn that was given before its giver knew its place goes ahead of others',
    changes: [
      { file: TURNS, find: 'set run_at = key.served_until', put: 'set run_at = task.run_at' },
    ],
    command: tests('test/store/postgres-turns.store.test.ts', 'a turn that was given before'),
    shows: /is put in its place/,
  },
  {
    name: 'plans-kept-for-ever',
    breaks: 'a plan that was made for an empty table stays when there is a million',
    changes: [
      {
        file: 'src/store/postgres/kept-statements.ts',
        find: "await connection.query('discard plans');",
        put: '',
      },
    ],
    command: tests('test/store/kept-plans.test.ts'),
    shows: /plans are made anew/,
  },
];
