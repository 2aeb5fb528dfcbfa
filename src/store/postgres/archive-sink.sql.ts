/** Statements of a sink: what has changed, who sends it, and how far it has come. */
import { agoOf, msOf, spanOf, sql, timeline } from './sql.ts';

/** Whether a sink has not certainly sent `task`, a row of step_tracker, and its history. */
export function isUnsent(task: string): string {
  return sql`
    exists (select 1 from archive_sink sink
             where sink.sent_until is null or ${task}.last_update >= sink.sent_until
                or exists (select 1 from run_events late
                            where late.task_id = ${task}.task_id
                              and late.written >= sink.sent_until))`;
}

/** By `concurrently`, so that pods go on; nobody pays for them where there is no sink. */
export const CREATE_INDEXES: readonly string[] = [
  sql`create index concurrently if not exists step_tracker_for_sinks on step_tracker (last_update)`,
  sql`create index concurrently if not exists run_events_for_sinks on run_events (written)`,
];

/** Indexes that were not made to their end serve nobody. */
export const selectHasIndexes = sql`
  select count(*) = 2 as has from pg_index
    join pg_class on pg_class.oid = pg_index.indexrelid
   where pg_class.oid in (to_regclass('step_tracker_for_sinks'), to_regclass('run_events_for_sinks'))
     and pg_index.indisvalid`;

/** A transaction may have begun before anybody can see that it has. */
const SLACK = sql`interval '10 seconds'`;

/**
 * The time that a row bears is not before its transaction began. So whatever commits later than this
 * look is stamped after the oldest transaction that was under way began, or after this very statement
 * came. Of others' sessions a role without pg_read_all_stats is told nothing: is_blind. Two-phase ones
 * say when they were prepared, which is taken for ten minutes after they began.
 */
export const selectLook = sql`
  with activity as materialized (
    select min(xact_start) as oldest, bool_or(backend_type is null and state is null) as is_blind
      from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and backend_type is distinct from 'autovacuum worker'),
  prepared as materialized (
    select min(prepared) - interval '10 minutes' as oldest
      from pg_prepared_xacts where database = current_database())
  select ${msOf('clock_timestamp()')} as now_ms,
         (least(now(), activity.oldest, prepared.oldest) - ${SLACK})::text as since,
         coalesce(activity.is_blind, false) as is_blind, current_user as role,
         pg_snapshot_xmin(pg_current_snapshot())::text as writer,
         (select system_identifier from pg_control_system()) || '/' || ${timeline} || '/' ||
           (select oid from pg_database where datname = current_database()) || '/' ||
           'step_tracker'::regclass::oid as timeline,
         (select max(last_update)::text from step_tracker) as step_tracker,
         (select max(written)::text from run_events) as run_events
    from activity cross join prepared`;

/**
 * A row's number of its transaction in full. Of subtransactions too, whose numbers are greater than
 * that of what they belong to: so nothing that was under way is below the oldest that was.
 */
const newest = sql`pg_snapshot_xmax(pg_current_snapshot())::text::bigint`;
const writer = sql`(${newest} - ((${newest} - xmin::text::bigint) & 4294967295))`;

const TASK = sql`
  task_id, generation, machine, version, queue, priority, ${msOf('run_at')} as run_at, status,
  wait_for, claim_epoch, claimed_by, retry_count, crashes, claims, paused, key as task_key, serial_key,
  parent_id, follows, ${msOf('deadline_at')} as deadline_at, payload, outcome, result, error, last_seq,
  last_hash, trace_parent, ${msOf('created_at')} as created_at, ${msOf('last_update')} as last_update,
  ${msOf('finished_at')} as finished_at, ${msOf('discarded_at')} as discarded_at`;
const SEGMENT = sql`
  task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events,
  ${msOf('at')} as begun_at`;

interface Paging {
  readonly columns: string;
  readonly table: string;
  readonly stamp: string;
  readonly order: string;
  readonly where: string;
  readonly size: string;
}

/** $1 count, $2 bytes as they are stored: so many rows and no more, and one in any case. */
function pageOf({ columns, table, stamp, order, where, size }: Paging): string {
  return sql`
  select ${columns}, ${stamp}::text as page_stamp, page_found
    from (select *, sum(${size}) over (order by ${order}) as page_bytes,
                 row_number() over (order by ${order}) as page_place, count(*) over () as page_found
            from (select * from ${table} where ${where} order by ${order} limit $1) found) sized
   where page_bytes <= $2 or page_place = 1
   order by page_place`;
}

const segments = {
  columns: SEGMENT,
  table: 'run_events',
  stamp: 'written',
  size: 'pg_column_size(events)',
};
const tasks = {
  columns: TASK,
  table: 'step_tracker',
  stamp: 'last_update',
  size: 'coalesce(pg_column_size(payload), 0) + coalesce(pg_column_size(result), 0)',
};

/** $3… the key of the last row. Everything, in the order of keys. */
export const PAGE_OF_ALL = {
  run_events: pageOf({
    ...segments,
    order: 'task_id, generation, epoch, first_seq',
    where: '(task_id, generation, epoch, first_seq) > ($3, $4::int, $5::bigint, $6::int)',
  }),
  step_tracker: pageOf({ ...tasks, order: 'task_id', where: 'task_id > $3' }),
} as const;

/** $3 the newest time, $4 the oldest writer, $5… time and key of the last row. In the order of times. */
export const PAGE_OF_CHANGED = {
  run_events: pageOf({
    ...segments,
    order: 'written, task_id, generation, epoch, first_seq',
    where: sql`written <= $3::timestamptz and ${writer} >= $4::bigint
      and (written, task_id, generation, epoch, first_seq)
        > ($5::timestamptz, $6, $7::int, $8::bigint, $9::int)`,
  }),
  step_tracker: pageOf({
    ...tasks,
    order: 'last_update, task_id',
    where: sql`last_update <= $3::timestamptz and ${writer} >= $4::bigint
      and (last_update, task_id) > ($5::timestamptz, $6)`,
  }),
} as const;

/**
 * $1 name, $2 target, $3 holder, $4 ms, $5 whether whoever has it is known to be gone. What was sent
 * elsewhere is not in this archive.
 */
export const holdSink = sql`
  insert into archive_sink as sink (name, target, holder, held_until)
  values ($1, $2, $3, clock_timestamp() + ${spanOf('$4::float8')})
  on conflict (name) do update
     set target = excluded.target, holder = excluded.holder,
         held_until = clock_timestamp() + ${spanOf('$4::float8')},
         sent_until = case when sink.target = excluded.target then sink.sent_until end
   where sink.holder is null or sink.holder = excluded.holder or $5::boolean
      or sink.held_until < clock_timestamp()
  returning name`;

/** $1 name, $2 holder, $3 until when. Never back. */
export const confirmSent = sql`
  update archive_sink
     set sent_until = greatest(sent_until, $3::timestamptz), sent_at = clock_timestamp()
   where name = $1 and holder = $2`;

/** $1 name, $2 holder. */
export const freeSink = sql`
  update archive_sink set holder = null, held_until = null where name = $1 and holder = $2`;

/** $1 name. Not while a process sends: it would be back at once. */
export const deleteSink = sql`
  delete from archive_sink
   where name = $1 and (held_until is null or held_until < clock_timestamp()) returning name`;

export const selectSinks = sql`
  select name, target, holder, coalesce(held_until > clock_timestamp(), false) as is_held,
         ${agoOf('sent_until')} as behind_ms
    from archive_sink order by name`;
