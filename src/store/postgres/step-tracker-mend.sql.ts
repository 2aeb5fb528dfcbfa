/**
 * Statements that put right a row with which nobody can count. New ones are refused by constraints;
 * one that was there before them would make every statement fail that touches it.
 */
import { COUNT_MAX, EPOCH_ANEW, EPOCH_TURN, SPAN_MS_MAX } from '../bounds.ts';
import { keyUntil, sql } from './sql.ts';

/** As the constraints say it. */
const TIME_MIN = `timestamptz '0001-01-01 00:00:00+00'`;
const TIME_MAX = `timestamptz '9999-12-31 00:00:00+00'`;
const TIMES = [
  ...['run_at', 'created_at', 'last_update', 'deadline_at', 'key_until', 'claimed_at'],
  ...['finished_at', 'discarded_at'],
];
/** Each with its least value and its greatest. */
const COUNTS: readonly (readonly [string, number, number])[] = [
  ['generation', 1, COUNT_MAX],
  ['key_generation', 1, COUNT_MAX],
  ['retry_count', 0, COUNT_MAX],
  ['crashes', 0, COUNT_MAX],
  ['claims', 0, COUNT_MAX],
  ['last_seq', -1, COUNT_MAX],
  ['key_ms', 0, SPAN_MS_MAX],
];

const isCountable = [
  ...TIMES.map((name) => sql`${name} between ${TIME_MIN} and ${TIME_MAX}`),
  ...COUNTS.map(([name, least, greatest]) => sql`${name} between ${least} and ${greatest}`),
  sql`claim_epoch between 0 and ${EPOCH_TURN}`,
].join(' and ');

const epoch = sql`
  case when claim_epoch between 0 and ${EPOCH_TURN} then claim_epoch else ${EPOCH_ANEW} end`;

function boundsOf(times: readonly string[]): string {
  return [
    ...times.map(
      (name) => sql`${name} = case when ${name} is not null
           then least(greatest(${name}, ${TIME_MIN}), ${TIME_MAX}) end`,
    ),
    ...COUNTS.map(
      ([name, least, greatest]) => sql`${name} = least(greatest(${name}, ${least}), ${greatest})`,
    ),
  ].join(',\n         ');
}

function mendWhere(condition: string): string {
  return sql`
  update step_tracker task
     set ${boundsOf(TIMES)},
         claim_epoch = ${epoch}
    from (select task_id as broken_id from step_tracker
           where ${condition} and (${isCountable}) is false
           order by task_id for update skip locked) broken
   where task.task_id = broken.broken_id
  returning task.task_id`;
}

/** $1 ids. Answers those that were mended. */
export const mendTasks = mendWhere(sql`task_id = any ($1::text[])`);

/** $1 pod. Of what it holds. */
export const mendHeld = mendWhere('claimed_by = $1');

/** $1 count. Of what is open, wherever it stands: only where a sweep of all has failed. */
export const mendOpen = mendWhere(sql`task_id in (
             select task_id from step_tracker
              where status in ('pending', 'waiting') and (${isCountable}) is false limit $1)`);

const set = TIMES.filter((name) => !['finished_at', 'key_until', 'last_update'].includes(name));

/** $1 task, $2 error. The least that makes a dead letter of a row that cannot be claimed. */
export const failTask = sql`
  update step_tracker
     set ${boundsOf(set)},
         claim_epoch = ${epoch} + 1, status = 'failed', wait_for = null, waiting_on = null,
         outcome = 'aborted', error = $2, finished_at = clock_timestamp(), serial_held = false,
         key_until = case when key is not null then ${keyUntil('key_ms')} end,
         control = null, control_reason = null, last_update = clock_timestamp()
   where task_id = $1 and status in ('pending', 'waiting')
  returning task_id`;
