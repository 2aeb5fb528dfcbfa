/** Bugs that make a cost grow faster than the load, or leave work undone where there is much of it. */
import { type Mutant, tests } from './mutant.ts';

const plans = tests('test/store/postgres-plans.store.test.ts');
const sweepSql = 'src/store/postgres/step-tracker-sweep.sql.ts';
const SIGHT = 'src/store/fleet-sight.ts';
const PODS_SQL = 'src/store/postgres/pod-health.sql.ts';

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
  {
    name: 'stalled-pods-keep-their-place',
    breaks:
      'pods that are silent or stalled are counted before the fourth, which never sees the fleet (I26)',
    changes: [
      {
        file: SIGHT,
        find: 'pods.filter((one) => mayLead(one, silentMs))',
        put: "pods.filter(({ status }) => status === 'up')",
      },
    ],
    command: tests('test/store/memory.test.ts', 'is out of the order'),
    shows: /a pod that stalls or falls silent is out of the order/,
  },
  {
    name: 'fourth-pod-blind',
    breaks:
      'where the first three look able and do not act, no other pod ever sees the fleet (I26)',
    changes: [
      {
        file: SIGHT,
        find: 'return place >= 0 && place < LOOKOUTS + openTurns(',
        put: 'return place >= 0 && place < LOOKOUTS + 0 * openTurns(',
      },
    ],
    command: tests('test/fleet/leader-stands-in.test.ts'),
    shows: /where the first three look well and do not act, the fourth does/,
  },
  {
    name: 'fourth-pod-blind-on-postgres',
    breaks: 'the same in the statement of Postgres',
    changes: [
      {
        file: PODS_SQL,
        find: '(overdue >= 0)::integer * (1 +',
        put: '0 * (1 +',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', 'what the first three leave overdue'),
    shows: /what the first three leave overdue the next pods see/,
  },
  {
    name: 'silent-pods-heard',
    breaks: 'a heartbeat counts pods as heard of that have not beaten for long',
    changes: [
      {
        file: PODS_SQL,
        find: 'AUDIBLE_BEATS} * $8::float8',
        put: 'AUDIBLE_BEATS} * null::float8',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', 'a heartbeat counts the pods'),
    shows: /a heartbeat counts the pods that are up/,
  },
  {
    name: 'old-sightings-kept',
    breaks: 'a pod that is shown all of the fleet judges the old leader before the others (I28)',
    changes: [
      {
        file: 'src/fleet/watch.ts',
        find: 'new Map(seesAll && this.#seesAll ? this.#sightings : [])',
        put: 'new Map(this.#sightings)',
      },
    ],
    command: tests('test/fleet/leader-stands-in.test.ts'),
    shows: /no crash is counted/,
  },
  {
    name: 'hidden-transactions-are-none',
    breaks: 'where the role is not shown the sessions of others, none is said to be open',
    changes: [
      {
        file: 'src/store/postgres/doctor.sql.ts',
        find: "  select case when pg_has_role(current_user, 'pg_read_all_stats', 'usage') then",
        put: '  select case when true then',
      },
    ],
    command: tests('test/store/postgres-oldest-transaction.store.test.ts'),
    shows: /the census has the age of the oldest/,
  },
];
