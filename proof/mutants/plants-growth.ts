/** Bugs that make a cost grow faster than the load, or leave work undone where there is much of it. */
import { type Mutant, tests } from './mutant.ts';

const plans = tests('test/store/postgres-plans.store.test.ts');
const sweepSql = 'src/store/postgres/step-tracker-sweep.sql.ts';

export const GROWTH: readonly Mutant[] = [
  {
    name: 'compares-before-it-fences',
    breaks:
      'a run goes on from records that its predecessor, alive elsewhere, has outrun since (I8)',
    changes: [
      {
        file: 'src/fleet/adopter.ts',
        find: '    for (const from of predecessors) await this.#fence(from);\n',
        put: '',
      },
      {
        file: 'src/fleet/adopter.ts',
        find: `    await this.#adoptRest('free');\n`,
        put: `    for (const from of predecessors) await this.#fence(from);
    await this.#adoptRest('free');\n`,
      },
    ],
    command: tests('test/fleet/cut-short-adoption.test.ts', '^I8'),
    shows: /I8: a predecessor can change nothing any more/,
  },
  {
    name: 'another-epoch-has-crashed',
    breaks: 'a claim of which this disk knows nothing counts as a crash of its run (I29)',
    changes: [
      {
        file: 'src/store/memory/take.ts',
        find: 'epochs.get(taskId) === claimEpoch',
        put: 'epochs.has(taskId) && claimEpoch > 0',
      },
    ],
    command: tests('test/fleet/cut-short-adoption.test.ts', '^I29'),
    shows: /I29: what a predecessor had claimed anew/,
  },
  {
    name: 'ready-after-the-pictures',
    breaks: 'a process is ready only when the fleet has been shown all that sleeps on its host',
    changes: [
      {
        file: 'src/fleet/life.ts',
        find: '    this.isReady = true;\n    adopter.finish(',
        put: '    await adopter.finish(() => 0);\n    this.isReady = true;\n    adopter.finish(',
      },
    ],
    command: tests('test/fleet/adopt-pictures.test.ts'),
    shows: /I21: a process is ready, and runs what is due/,
  },
  {
    name: 'pictures-given-up',
    breaks: 'a store that fails once leaves the runs of a host to a pod that is dead (I38)',
    changes: [
      {
        file: 'src/fleet/adopter.ts',
        find: 'await pause(clock, ladder.next(chance));',
        put: 'return await pause(clock, ladder.next(chance));',
      },
    ],
    command: tests('test/fleet/adopt-pictures.test.ts'),
    shows: /is shown again though the store fails meanwhile/,
  },
  {
    name: 'read-together-unproved',
    breaks: 'a damaged record that was read with others is gone on from (I22)',
    changes: [
      {
        file: 'src/journal/whole-run.ts',
        find: 'const records = decodeRows(row.id, rows, codec);',
        put: `const records = rows.flatMap((one) => {
      const row = { ...one, seq: 0 };
      return unlessDamaged(() => decodeRows(row.run as never, [row], codec)) ?? [];
    });`,
      },
    ],
    command: tests('test/journal/held-runs.test.ts'),
    shows: /a damaged one hides no other/,
  },
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
