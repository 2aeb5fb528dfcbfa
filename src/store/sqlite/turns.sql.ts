/** Statements that give turns to tasks with serial keys. Conditions are those of the indexes. */

const waits = `status = 'waiting' and wait_for = 'turn' and paused = 0`;

/** @now, @count. What came in, or became due, since somebody looked last. */
export const selectArrivals = `
  select task_id, queue, serial_key from step_tracker
   where ${waits} and waiting_on is null and run_at <= @now
   order by run_at, task_id limit @count`;

/** @queue, @serial_key: whose turn it is. */
export const selectHolder = `
  select task_id from step_tracker
   where queue = @queue and serial_key = @serial_key and serial_held = 1`;

/** @queue, @serial_key, @now: the first that is due. */
const next = `
  select task_id from step_tracker
   where queue = @queue and serial_key = @serial_key and ${waits} and run_at <= @now
   order by run_at, task_id limit 1`;

/**
 * The same, and @from: it stands where it would be ready if nobody but its key were there. So a key neither
 * goes to the back of the line at each turn, nor keeps other keys waiting with its flood.
 */
export const giveTurn = `
  update step_tracker
     set status = 'pending', wait_for = null, waiting_on = null, serial_held = 1, run_at = max(run_at, @from),
         last_update = @now
   where task_id = (${next})
  returning task_id`;

/** @task, @holder: somebody has looked at it, and found another before it. */
export const markArrival = `
  update step_tracker set waiting_on = @holder where task_id = @task and ${waits}`;

/** @task: the key it takes turns by. */
export const selectSerial = `
  select queue, serial_key from step_tracker where task_id = @task and serial_key is not null`;
