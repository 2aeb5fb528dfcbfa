/** Words that the statements share. Values are always bound; nothing in here comes from outside. */
import { assert } from '../../ground/index.ts';
import { EPOCH_ANEW, EPOCH_TURN, SPAN_MS_MAX } from '../bounds.ts';

/** Marks text as a statement, for editors; put together as it is. */
export const sql = String.raw;

/**
 * For one transaction. The planner knows little of rows that came a minute ago: a plan that sorts everything,
 * or takes an index of more than is asked for, would be cut by the limit.
 */
export const byIndexes = sql`
  set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off;
  set local enable_hashjoin = off; set local enable_mergejoin = off; set local jit = off`;

/** All that comes before its statement, in one message; a message of several takes no bound values. */
export function openingOf(statementMs: number, settings: string): string {
  assert(Number.isSafeInteger(statementMs), 'a limit is whole milliseconds');
  return sql`
  begin isolation level read committed;
  set local statement_timeout = ${statementMs};
  set local idle_in_transaction_session_timeout = ${statementMs};
  ${settings}`;
}

/** Milliseconds since the epoch, whole, of a timestamp. */
export function msOf(timestamp: string): string {
  return sql`floor(extract(epoch from ${timestamp}) * 1000)::float8`;
}

/** A task as people see it in a list: without what may be large. */
export const glanceColumns = sql`
  task_id, generation, machine, version, queue, priority, ${msOf('run_at')} as run_at, status,
  wait_for, claim_epoch, acts, claimed_by, retry_count, retries_max, crashes, claims, control, paused, key,
  serial_key, serial_held, follows, follows_on, pinned_to,
  ${msOf('deadline_at')} as deadline_at, outcome, error, last_seq,
  last_hash, carry_from,
  interrupted, ${msOf('created_at')} as created_at, ${msOf('last_update')} as last_update,
  ${msOf('finished_at')} as finished_at, ${msOf('discarded_at')} as discarded_at`;

/** A timestamp as text, as JavaScript writes it. */
export function isoOf(timestamp: string): string {
  return sql`to_char(${timestamp} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** How long ago a timestamp was by the store's clock, in milliseconds. */
export function agoOf(timestamp: string): string {
  return sql`(extract(epoch from clock_timestamp() - ${timestamp}) * 1000)::float8`;
}

/** A span of so many milliseconds; `ms` is a bound number or a column. */
export function spanOf(ms: string): string {
  return sql`(${ms} * interval '1 millisecond')`;
}

/** Which primary this is: another server that takes over counts one up. */
export const timeline = sql`substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;

/**
 * The epoch of a new owner. It begins anew above everything that an earlier primary can have given
 * out, so that (task, epoch) stays unique over a failover that lost commits.
 */
export const nextEpoch = sql`
  greatest(${counted('task.claim_epoch')}, ('x' || ${timeline})::bit(32)::bigint << 32) + 1`;

/** The epoch after that of a row. */
export function raised(epoch: string): string {
  return sql`${counted(epoch)} + 1`;
}

/** An epoch that somebody wrote by hand may leave no room above it. */
function counted(epoch: string): string {
  return sql`case when ${epoch} < ${EPOCH_TURN} then ${epoch} else ${EPOCH_ANEW} end`;
}

/** When a key whose task ends now is free again. */
export function keyUntil(keyMs: string): string {
  const ms = sql`least(greatest(${keyMs}, 0), ${SPAN_MS_MAX})`;
  return sql`clock_timestamp() + ${spanOf(ms)}`;
}

export const ended = sql`('completed', 'failed', 'cancelled')`;

/**
 * A condition that the planner does not estimate. Statistics know little of rows that were claimed a
 * second ago: they promise one where there are hundreds, and a join built on that reads everything
 * for each of them. So a batch finds its rows by their ids alone, and the rest is looked at after.
 */
export function onceFound(condition: string): string {
  return sql`case when ${condition} then true else false end`;
}

/** `asked`: the timeline of the server that a write is meant for; null where it is for any. */
export function isMeantFor(asked: string): string {
  return sql`(${asked}::text is null or ${asked}::text = ${timeline})`;
}

/**
 * $1 pod: its row, held so that nobody can declare it dead before the statement is over. With `asked`,
 * only on the server of that timeline.
 */
export function fenceOf(statuses: string, asked?: string): string {
  const here = asked === undefined ? '' : sql` and ${isMeantFor(asked)}`;
  return sql`
  fence as materialized (
    select 1 from pod_health where pod_id = $1 and status in (${statuses})${here} for key share)`;
}

export const selectTimeline = sql`select ${timeline} as timeline`;
