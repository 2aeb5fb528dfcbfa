/**
 * Statements on queues that have a limit. Nothing is counted beside the tasks themselves, so nothing can
 * drift: a claim holds the row of the limit, and looks by a statement after that at how many are claimed.
 */
import { msOf, sql } from './sql.ts';

/** $1 behind this one, $2 count: which queues have one, and are not paused. */
export const selectLimited = sql`
  select queue from queue_limits where max_claimed is not null and not paused and queue > $1
   order by queue limit $2`;

/** $1 queues. Held until the claim is committed; those that a rival holds are left to it. */
export const lockLimits = sql`
  select queue, max_claimed from queue_limits
   where queue = any ($1::text[]) and max_claimed is not null and not paused
   order by queue for update skip locked`;

/** $1 queues. By the index of owners: as many as are claimed at all. Local runs are their host's. */
export const countClaimed = sql`
  select queue, count(*)::int as claimed from step_tracker
   where claimed_by is not null and pinned_to is null and queue = any ($1::text[])
   group by queue`;

/** Every queue that has open tasks, a limit, or is paused; at the cost of what is open. */
export const selectQueues = sql`
  select queue, coalesce(pending, 0)::int as pending, coalesce(waiting, 0)::int as waiting,
         coalesce(claimed, 0)::int as claimed, ${msOf('due_at')} as due_at, max_claimed,
         coalesce(paused, false) as paused, paused_by, ${msOf('paused_at')} as paused_at
    from (select queue, count(*) filter (where status = 'pending') as pending,
                 count(*) filter (where status = 'waiting') as waiting,
                 count(*) filter (where status = 'claimed' and pinned_to is null) as claimed,
                 min(run_at) filter (where status = 'pending') as due_at
            from step_tracker where status in ('pending', 'waiting', 'claimed')
           group by queue) open
    full join queue_limits using (queue)
   order by queue collate "C"`;

export const selectPausedMachines = sql`
  select machine, paused_by, ${msOf('paused_at')} as paused_at from machine_pauses
   order by machine collate "C"`;

/** $1 queue: held, where it is there. */
export const lockQueue = sql`
  select max_claimed, paused from queue_limits where queue = $1 for update`;
/** $1 queue, $2 limit. */
export const setLimit = sql`
  insert into queue_limits (queue, max_claimed, last_update) values ($1, $2::int, clock_timestamp())
  on conflict (queue) do update set max_claimed = $2::int, last_update = clock_timestamp()`;
/** $1 queue, $2 who. */
export const pauseQueue = sql`
  insert into queue_limits (queue, paused, paused_by, paused_at)
  values ($1, true, $2, clock_timestamp())
  on conflict (queue) do update
     set paused = true, paused_by = $2, paused_at = clock_timestamp(), last_update = clock_timestamp()`;
/** $1 queue. */
export const resumeQueue = sql`
  update queue_limits
     set paused = false, paused_by = null, paused_at = null, last_update = clock_timestamp()
   where queue = $1`;
/** $1 queue. One that says nothing is not kept. */
export const forgetQueue = sql`
  delete from queue_limits where queue = $1 and max_claimed is null and not paused`;

/** $1 machine: held, where it is there. */
export const lockMachine = sql`select 1 from machine_pauses where machine = $1 for update`;
/** $1 machine, $2 who. */
export const pauseMachine = sql`
  insert into machine_pauses (machine, paused_by) values ($1, $2)
  on conflict (machine) do nothing`;
/** $1 machine. */
export const resumeMachine = sql`delete from machine_pauses where machine = $1`;

/** $1 queue, $2 machine, $3 serial key, $4 task, $5 how many owners: what may be in the way of it. */
export const selectGate = sql`
  select (select row_to_json(row) from (
            select max_claimed, paused, paused_by, ${msOf('paused_at')} as paused_at
              from queue_limits where queue = $1) row) as queue,
         (select json_agg(row) from (
            select claimed_by as pod, count(*)::int as count from step_tracker
             where claimed_by is not null and pinned_to is null and queue = $1
             group by claimed_by order by count(*) desc, claimed_by limit $5) row) as owners,
         (select count(*)::int from step_tracker
           where claimed_by is not null and pinned_to is null and queue = $1) as claimed,
         (select row_to_json(row) from (
            select machine, paused_by, ${msOf('paused_at')} as paused_at
              from machine_pauses where machine = $2) row) as machine,
         (select row_to_json(row) from (
            select task_id as id, status from step_tracker
             where queue = $1 and serial_key = $3 and serial_held and task_id <> $4) row) as holder`;
