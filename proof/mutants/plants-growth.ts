/** Bugs that make a cost grow faster than the load, or leave work undone where there is much of it. */
import { type Mutant, tests } from './mutant.ts';

const plans = tests('test/store/postgres-plans.store.test.ts');
const sweepSql = 'src/store/postgres/step-tracker-sweep.sql.ts';

export const GROWTH: readonly Mutant[] = [
  {
    name: 'retention-once-a-turn',
    breaks: 'a backlog of ended tasks is removed a run at a time, one each ten minutes',
    changes: [
      {
        file: 'src/fleet/leader.ts',
        find: 'while (isMore && isLeading(life)) isMore =',
        put: 'if (isMore && isLeading(life)) isMore =',
      },
    ],
    command: tests('test/fleet/retention.test.ts'),
    shows: /the leader starts a chore again at once/,
  },
  {
    name: 'retention-a-batch-a-run',
    breaks: 'a run of retention removes one batch',
    changes: [
      {
        file: 'src/fleet/recovery.ts',
        find: '      return pruned;\n',
        put: '      return { ...pruned, isMore: false };\n',
      },
    ],
    command: tests('test/fleet/retention.test.ts'),
    shows: /more than a batch of ended tasks goes in one turn/,
  },
  {
    name: 'retention-late-untold',
    breaks: 'nobody hears that retention is behind',
    changes: [
      {
        file: 'src/fleet/census-watch.ts',
        find: 'endedOldestMs - this.#ports.retentionMs)',
        put: '-this.#ports.retentionMs)',
      },
    ],
    command: tests('test/fleet/retention.test.ts'),
    shows: /a report tells when it is late/,
  },
  {
    name: 'expired-keys-once-a-turn',
    breaks: 'keys that have expired are freed a batch in ten minutes',
    changes: [
      {
        file: 'src/store/postgres/recovery.ts',
        find: 'const isMore = [freed, ended, audited]',
        put: 'const isMore = [ended, audited]',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store retention'),
    shows: /keys are freed a batch at a time/,
  },
  {
    name: 'kept-keys-walked',
    breaks: 'retention reads every ended task that keeps its key',
    changes: [
      {
        file: sweepSql,
        find: "export const ENDED_ORDER = 'key, finished_at';",
        put: "export const ENDED_ORDER = 'finished_at';",
      },
    ],
    command: plans,
    shows: /retention looks at what may go/,
  },
  {
    name: 'upkeep-plans-freely',
    breaks: 'the census reads the whole table where the planner knows nothing of it',
    changes: [
      {
        file: 'src/store/postgres/sql.ts',
        find: '  set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off;\n',
        put: '',
      },
    ],
    command: plans,
    shows: /retention looks at what may go/,
  },
];
