/** Statements on bulk_operation. */
import { msOf, spanOf, sql } from './sql.ts';

const columns = sql`
  id, what, deed, filter, is_masked, rate, count_max, who, via, status,
  ${msOf('created_at')} as created_at, ${msOf('updated_at')} as updated_at,
  ${msOf('ended_at')} as ended_at, expected, cursor, is_read, in_hand, found, done, requested,
  already, refused, refusals, samples, shift, shift_run, token, epoch`;

/** $1 id, $2 what, $3 deed, $4 filter, $5 masked, $6 rate, $7 count, $8 who, $9 via, $10 shift's run. */
export const insertBulk = sql`
  insert into bulk_operation
    (id, what, deed, filter, is_masked, rate, count_max, who, via, status, shift_run)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running', $10)
  returning ${columns}`;

/** $1 id. Held until what is decided about it is written; the time is that of then. */
export const lockBulk = sql`
  select ${columns}, ${msOf('clock_timestamp()')} as now from bulk_operation where id = $1 for update`;

/** $1 id, $2 epoch. There where it goes on, by the shift of that epoch, and so until this commits. */
export const holdBulkAt = sql`
  select 1 from bulk_operation where id = $1 and epoch = $2 and status = 'running' for share`;

export const selectBulk = sql`select ${columns} from bulk_operation where id = $1`;

/** $1 the run of its shift: whether it has ended, or is gone. */
export const selectShiftOver = sql`
  select not exists (
    select 1 from step_tracker where task_id = $1 and finished_at is null) as is_over`;

/** $1 id, then all that changes. The time is the store's. */
export const updateBulk = sql`
  update bulk_operation
     set status = $2, rate = $3, expected = $4, cursor = $5, is_read = $6, in_hand = $7, found = $8,
         done = $9, requested = $10, already = $11, refused = $12, refusals = $13, samples = $14,
         shift = $15, shift_run = $16, token = $17, epoch = $18, updated_at = clock_timestamp(),
         ended_at = case when $19 then coalesce(ended_at, clock_timestamp()) end
   where id = $1`;

/** $1 ids or null, $2 before this id or null, $3 count. */
export const selectBulks = sql`
  select ${columns} from bulk_operation
   where ($1::text[] is null or id = any ($1::text[])) and ($2::text is null or id < $2)
   order by id desc limit $3`;

/** $1 age in ms, $2 count. */
export const deleteBulks = sql`
  delete from bulk_operation
   where id in (
     select id from bulk_operation
      where ended_at is not null and ended_at < clock_timestamp() - ${spanOf('$1::float8')}
      order by ended_at limit $2)`;

/** $1 age in ms. */
export const selectHasOldBulks = sql`
  select exists (
    select 1 from bulk_operation
     where ended_at is not null
       and ended_at < clock_timestamp() - ${spanOf('$1::float8')}) as has_old`;
