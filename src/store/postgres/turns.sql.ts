/**
 * Statements that give turns to tasks with serial keys. Each sees the tables as they are committed when
 * it begins: whoever ends a task, or puts one in, commits first and looks then, so that of two who do
 * that at the same time one sees the other. A unique index over those that have their turn decides
 * where two want to give one.
 */
import { onceFound, sql } from './sql.ts';

/** Written as the indexes are. */
const waits = sql`status = 'waiting' and wait_for = 'turn' and not paused`;

const isHeld = sql`exists (
  select 1 from step_tracker holder
   where holder.queue = key.queue and holder.serial_key = key.serial_key and holder.serial_held)`;

/**
 * Gives every key that is free its next one: the first that is due. It stands where it would be ready if
 * nobody but its key were there: not before the one before it had begun at its own place and taken its time.
 * So a key neither goes to the back of the line at each turn, nor keeps other keys waiting with its flood.
 * Keys in one order, so that two who do this wait in one direction only. Answers every key, and whether a
 * turn was given, by this or by somebody who did the same just then. That a key is held is asked of each by
 * itself: a join would read all that are held.
 */
const give = sql`
  next as materialized (
    select key.*, found.task_id from key cross join lateral (
      select task_id from step_tracker
       where queue = key.queue and serial_key = key.serial_key and ${waits} and run_at <= now()
       order by run_at, task_id limit 1) found
     where case when ${isHeld} then false else true end
     order by key.queue, key.serial_key offset 0),
  given as (
    update step_tracker task
       set status = 'pending', wait_for = null, waiting_on = null, serial_held = true,
           run_at = greatest(task.run_at, next.served_until),
           last_update = clock_timestamp()
      from next
     where task.task_id = next.task_id and ${onceFound(sql`
       task.status = 'waiting' and task.wait_for = 'turn' and not task.paused
       and task.run_at <= now()`)}
    returning task.queue, task.serial_key)
  select key.queue, key.serial_key, next.task_id is not null as is_given,
         next.task_id is not null and given.queue is null and key.served_until is not null as was_overtaken
    from key left join given using (queue, serial_key) left join next using (queue, serial_key)
   order by key.queue, key.serial_key`;

/**
 * $1 queues, $2 serial keys, $3 until when the one before has taken its time. Somebody who looked just then
 * may have given the turn already, without knowing that: it is put in its place, by a second statement where
 * the first one was overtaken.
 */
export const giveTurns = sql`
  with key as materialized (
    select queue, serial_key, to_timestamp(max(served_until)) as served_until
      from unnest($1::text[], $2::text[], $3::float8[]) as asked (queue, serial_key, served_until)
     group by queue, serial_key),
  placed as (
    update step_tracker task set run_at = key.served_until
      from key
     where task.queue = key.queue and task.serial_key = key.serial_key and task.serial_held
       and ${onceFound(sql`task.status = 'pending' and task.run_at < key.served_until`)}),
  ${give}`;

const arrivals = sql`
    select task_id, queue, serial_key from step_tracker
     where ${waits} and waiting_on is null and run_at <= now()
     order by run_at, task_id limit $1`;

/** $1 how many: the keys of what came in, or became due, since somebody looked last. */
export const giveArrivals = sql`
  with key as materialized (
    select distinct queue, serial_key, null::timestamptz as served_until from (${arrivals}) arrived),
  ${give}`;

/** $1 how many. Those that have another before them are looked at no more until it ends. */
export const markArrivals = sql`
  with arrived as materialized (${arrivals} for update skip locked),
  behind as materialized (
    select key.task_id, (
      select holder.task_id from step_tracker holder
       where holder.queue = key.queue and holder.serial_key = key.serial_key
         and holder.serial_held) as holder
      from arrived key)
  update step_tracker task set waiting_on = behind.holder
    from behind
   where task.task_id = behind.task_id and behind.holder is not null`;

/**
 * $1 queue, $2 serial key, $3 how many: the keys after this one, by hops over the index, whoever waits
 * for them. For what nobody has told of: its turn was to be given by somebody who died just then.
 */
export const giveOverdue = sql`
  with recursive hop (queue, serial_key, number) as (
    (select queue, serial_key, 1 from step_tracker
      where ${waits} and (queue, serial_key) > ($1::text, $2::text)
      order by queue, serial_key limit 1)
    union all
    (select after.queue, after.serial_key, hop.number + 1 from hop cross join lateral (
       select queue, serial_key from step_tracker
        where ${waits} and (queue, serial_key) > (hop.queue, hop.serial_key)
        order by queue, serial_key limit 1) after
      where hop.number < $3)),
  key as materialized (select queue, serial_key, null::timestamptz as served_until from hop),
  ${give}`;
