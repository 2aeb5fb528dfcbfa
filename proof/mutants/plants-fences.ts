// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in the fences of Postgres: locks that are not taken, or taken where they hold nobody. */
import { type Mutant, tests } from './mutant.ts';

const PODS = 'src/store/postgres/pod-health.sql.ts';
const CLAIM = 'src/store/postgres/step-tracker-claim.sql.ts';
const SETTLE = 'src/store/postgres/step-tracker-settle.sql.ts';
const SWEEP = 'src/store/postgres/step-tracker-sweep.sql.ts';
const SQL = 'src/store/postgres/sql.ts';

const fences = tests('test/store/postgres-fences.store.test.ts');

export const FENCES: readonly Mutant[] = [
  {
    name: 'fence-not-referenced',
    breaks: 'a fence that nothing refers to is never looked at: a dead pod settles',
    changes: [{ file: SETTLE, find: 'from leaving, fence', put: 'from leaving' }],
    command: fences,
    shows: /a settle that meets a sweep waits for it/,
  },
  {
    name: 'key-share-removed',
    breaks: 'the row of the pod is looked at and not held, so a sweep goes on beside a settle',
    changes: [
      {
        file: SQL,
        find: 'status in (${statuses})${here} for key share)',
        put: 'status in (${statuses})${here})',
      },
    ],
    command: fences,
    shows: /a settle that meets a sweep waits for it/,
  },
  {
    name: 'claim-without-fence',
    breaks: 'a pod that is dead, or draining, claims',
    changes: [
      {
        file: CLAIM,
        find: '     where exists (select 1 from fence))`;',
        put: '     where true)`;',
      },
      {
        file: 'src/store/postgres/ready-head.sql.ts',
        find: '     where exists (select 1 from fence)),\n  longer',
        put: '     where true),\n  longer',
      },
      {
        file: CLAIM,
        find: 'and run_at <= now() and exists (select 1 from fence)',
        put: 'and run_at <= now()',
      },
    ],
    command: fences,
    shows: /a claim that meets a sweep waits for it/,
  },
  {
    name: 'mirror-without-fence',
    breaks: 'a run of a host becomes a claim of a pod that is dead',
    changes: [{ file: CLAIM, find: 'from run, fence', put: 'from run' }],
    command: fences,
    shows: /a mirrored run that meets a sweep is not shown/,
  },
  {
    name: 'sweep-without-lock',
    breaks: 'a plain update declares a pod dead while a settle of it is on its way',
    changes: [
      { file: PODS, find: '        for update skip locked)\n  returning', put: ')\n  returning' },
    ],
    command: fences,
    shows: /a sweep passes over a pod that is settling/,
  },
  {
    name: 'proved-death-without-lock',
    breaks: 'a successor takes over while the last statement of its predecessor still runs',
    changes: [{ file: PODS, find: '        for update nowait)', put: ')' }],
    command: fences,
    shows: /a settle that meets a sweep waits for it|a proved death whose row is locked is busy/,
  },
  {
    name: 'drain-without-lock',
    breaks: 'a claim commits after the pod has said that it drains (I39)',
    changes: [{ file: PODS, find: `status = 'up' for update)`, put: `status = 'up')` }],
    command: fences,
    shows: /draining waits for the claim in flight/,
  },
  {
    name: 'staleness-not-looked-at-again',
    breaks: 'a pod is swept though it has been heard of since (I25)',
    changes: [
      {
        file: PODS,
        find: `        and last_heartbeat < clock_timestamp() - \${silenceOf('$3::float8')}\n`,
        put: '        and $3::float8 is not null\n',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store the sweep'),
    shows: /a fresh pod is never fenced for silence/,
  },
  {
    name: 'sweep-by-the-clock-of-a-pod',
    breaks: 'how long a pod has been silent is judged by the clock of whoever sweeps (I27)',
    changes: [
      {
        file: PODS,
        find: `        and last_heartbeat < clock_timestamp() - \${silenceOf('$3::float8')}\n`,
        put: `        and last_heartbeat < to_timestamp($4::float8) - \${silenceOf('$3::float8')}\n`,
      },
      {
        file: 'src/store/postgres/pods.ts',
        find: '[pod, by, because.silentMs]',
        put: '[pod, by, because.silentMs, Date.now() / 1000]',
      },
    ],
    command: tests('test/store/postgres-edges.store.test.ts'),
    shows: /the clock of whoever sweeps decides nothing/,
  },
  {
    name: 'heartbeat-by-the-clock-of-a-pod',
    breaks: 'a heartbeat is written with the time of the pod, and compared with that of the store',
    changes: [
      {
        file: PODS,
        find: 'set last_heartbeat = clock_timestamp(), beat_seq',
        put: 'set last_heartbeat = to_timestamp($8::float8), beat_seq',
      },
      {
        file: 'src/store/postgres/pods.ts',
        find: 'JSON.stringify(report), leads, since ?? null];',
        put: 'JSON.stringify(report), leads, since ?? null, Date.now() / 1000];',
      },
    ],
    command: tests('test/store/postgres-edges.store.test.ts'),
    shows: /the clock of whoever beats decides nothing/,
  },
  {
    name: 'beat-without-compare',
    breaks: 'two processes beat in one name, and neither is found out (I11)',
    changes: [
      { file: PODS, find: 'and beat_seq = $2 and status', put: 'and $2::bigint >= 0 and status' },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store pods'),
    shows: /of two clones of one pod the second to beat is refused/,
  },
  {
    name: 'beat-by-number-alone',
    breaks: 'a process beats on in the name of its clone, which has come to the same number (I11)',
    changes: [{ file: PODS, find: 'beat_nonce = any($7::text[])', put: 'beat_nonce is not null' }],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store pods'),
    shows: /whoever has come to the same number is told by its name/,
  },
  {
    name: 'beat-of-the-dead',
    breaks: 'a pod that was declared dead is taken for alive again',
    changes: [
      {
        file: PODS,
        find: `and beat_seq = $2 and status in ('up', 'draining')`,
        put: 'and beat_seq = $2',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store pods'),
    shows: /a dead pod, and one that is not known, cannot beat/,
  },
  {
    name: 'taken-from-the-living',
    breaks: 'tasks are taken from a pod that lives',
    changes: [
      {
        file: SWEEP,
        find: `select 1 from pod_health where pod_id = $2 and status in ('up', 'draining'))`,
        put: 'select 1 from pod_health where false)',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store taking over'),
    shows: /nothing is taken from a pod that lives/,
  },
  {
    name: 'pod-down-with-claims',
    breaks: 'a pod is said to be down while tasks are claimed by it (I38)',
    changes: [
      {
        file: PODS,
        find: '     and not exists (select 1 from step_tracker where claimed_by = $1)\n',
        put: '',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store the sweep'),
    shows: /H6: a dead pod that wakes between two batches|a pod is down only when it is dead/,
  },
];
