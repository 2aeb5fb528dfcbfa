/** Statements on schedule. */
import { msOf, sql } from './sql.ts';

const columns = sql`
  name, status, machine, expression, zone, payload, tick_as, missed, jitter_ms, queue, priority,
  revision, declared, source, edition, ${msOf('next_at')} as next_at, ${msOf('last_at')} as last_at,
  last_run, ${msOf('last_run_at')} as last_run_at, ticks, skipped, overlap, trouble,
  ${msOf('created_at')} as created_at, ${msOf('updated_at')} as updated_at`;

const instant = (parameter: string) => sql`to_timestamp(${parameter}::float8 / 1000)`;

/** $1 name. Held until what is decided about it is written; the time is that of then, row or no row. */
export const lockSchedule = sql`
  select ${columns} from schedule where name = $1 for update`;

export const selectNow = sql`select ${msOf('clock_timestamp()')} as now`;

/** $1 name, then what it says and where it stands. Answers none where another has just put it in. */
export const insertSchedule = sql`
  insert into schedule
    (name, status, machine, expression, zone, payload, tick_as, missed, jitter_ms, queue, priority,
     revision, declared, source, edition, next_at, overlap)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, ${instant('$16')}, $17)
  on conflict (name) do nothing
  returning name`;

/** The same of one that is held. */
export const updateSchedule = sql`
  update schedule
     set status = $2, machine = $3, expression = $4, zone = $5, payload = $6, tick_as = $7,
         missed = $8, jitter_ms = $9, queue = $10, priority = $11, revision = $12, declared = $13,
         source = $14, edition = $15, next_at = ${instant('$16')}, overlap = $17, trouble = $18,
         updated_at = clock_timestamp()
   where name = $1
  returning name`;

/** $1 machines, $2 count. With the store's time in every row, and one row where nothing is due. */
export const selectDue = sql`
  with clock as materialized (select clock_timestamp() as now)
  select ${msOf('clock.now')} as now, due.*,
         (select ${msOf('min(next_at)')} from schedule
           where next_at > clock.now and machine = any ($1::text[])) as later
    from clock left join lateral (
      select ${columns} from schedule
       where next_at <= clock.now and machine = any ($1::text[])
       order by schedule.next_at, name limit $2) due on true
   order by due.next_at, due.name`;

/** $1 name, $2 edition as it was seen. Held until it has moved on; none where somebody was first. */
export const lockEdition = sql`
  select name from schedule where name = $1 and edition = $2 for update`;

/**
 * $1 name, $2 edition as it was seen, $3 last tick, $4 next tick, $5 last run, $6 count, $7 trouble,
 * $8 left out.
 */
export const moveSchedule = sql`
  update schedule
     set edition = edition + 1, last_at = ${instant('$3')}, next_at = ${instant('$4')},
         last_run = coalesce($5, last_run),
         last_run_at = case when $5::text is null then last_run_at else ${instant('$3')} end,
         ticks = ticks + $6, trouble = $7, skipped = skipped + $8, updated_at = clock_timestamp()
   where name = $1 and edition = $2
  returning name`;

/** $1 name, $2 run. Of one that is held: people have put a run in, and its ticks stay. */
export const ranSchedule = sql`
  update schedule
     set edition = edition + 1, last_run = $2, last_run_at = clock_timestamp(),
         updated_at = clock_timestamp()
   where name = $1
  returning name`;

/** $1 run. */
export const selectRun = sql`select status from step_tracker where task_id = $1`;

/** $1 names or null, $2 after this name or null, $3 count. */
export const selectSchedules = sql`
  select ${columns} from schedule
   where ($1::text[] is null and status <> 'removed' or name = any ($1::text[]))
     and ($2::text is null or name > $2)
   order by name limit $3`;
