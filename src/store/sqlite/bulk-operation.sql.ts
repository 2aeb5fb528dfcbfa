/** Statements on bulk_operation. */

/** What is its own, and @now. */
export const insertBulk = `
  insert into bulk_operation (id, what, deed, filter, is_masked, rate, count_max, who, via, status,
    created_at, updated_at, shift_run)
  values (@id, @what, @deed, @filter, @is_masked, @rate, @count_max, @who, @via, 'running',
    @now, @now, @shift_run)`;

/** @id. */
export const selectBulk = `select * from bulk_operation where id = @id`;

/** @id, @epoch. There where it goes on, by the shift of that epoch. */
export const selectBulkAt = `
  select 1 from bulk_operation where id = @id and epoch = @epoch and status = 'running'`;

/** @run: of a shift that goes on. */
export const selectShiftOpen = `
  select 1 from step_tracker where task_id = @run and finished_at is null`;

/** @id, and all that changes. */
export const updateBulk = `
  update bulk_operation
     set status = @status, rate = @rate, expected = @expected, cursor = @cursor, is_read = @is_read,
         in_hand = @in_hand, found = @found, done = @done, requested = @requested, already = @already,
         refused = @refused, refusals = @refusals, samples = @samples, shift = @shift,
         shift_run = @shift_run, token = @token, epoch = @epoch, updated_at = @updated_at,
         ended_at = @ended_at
   where id = @id`;

/** @before, @count. */
export const selectBulks = `
  select * from bulk_operation where id < @before order by id desc limit @count`;

/** @before, @count. */
export const selectBulksOld = `
  select id from bulk_operation
   where ended_at is not null and ended_at < @before order by ended_at limit @count`;
/** @before, @count. */
export const deleteBulks = `delete from bulk_operation where id in (${selectBulksOld})`;
