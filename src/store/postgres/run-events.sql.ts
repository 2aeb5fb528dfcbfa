/** Statements on run_events. Nothing here is fenced: the epoch in the key keeps owners apart. */
import { ENDED_STATES } from '../words.ts';
import { isMeantFor, onceFound, sql } from './sql.ts';

/** `at` stays: since when a generation is on record says how old it is. */
const extend = sql`
  on conflict (task_id, generation, epoch, first_seq) do update
     set last_seq = excluded.last_seq, last_hash = excluded.last_hash, state = excluded.state,
         events = excluded.events, written = excluded.written`;
const hasGrown = sql`
  excluded.last_seq > run_events.last_seq and excluded.prev_hash = run_events.prev_hash
  and starts_with(excluded.events, left(run_events.events, -1))`;
const isHeld = sql`
  excluded.prev_hash = run_events.prev_hash
  and case when excluded.last_seq = run_events.last_seq
        then excluded.last_hash = run_events.last_hash
        else excluded.last_seq < run_events.last_seq
             and starts_with(run_events.events, left(excluded.events, -1)) end`;

/**
 * The same segment, grown: it begins with every record that is there. Anything else is another
 * history under the same numbers and is left as it is.
 */
export const extendSegment = sql`${extend} where ${hasGrown}`;

/**
 * The same for what comes with a settlement, which must not stand without it: another history under
 * the same numbers makes the statement fail, by a text that is no number, as a bad value would. It is
 * looked at where the row is locked, so that a flush that is on its way meanwhile changes nothing.
 */
export const extendOrRefuse = sql`${extend}
   where case when ${hasGrown} then true when ${isHeld} then false
     else ('the history has forked at epoch ' || run_events.epoch || ', from '
           || run_events.first_seq)::int is null end`;

const isMoving = onceFound(sql`
  task.generation = asked.generation and task.claim_epoch = asked.epoch and task.status = 'claimed'
  and task.version <> asked.version`);

function archiveBy(moved: string, timeline: string): string {
  return sql`
  with given (tasks) as materialized (select $1::text[]),${moved}
  there as materialized (
    select task.task_id, task.finished_at is not null as has_ended
      from given, unnest(given.tasks) as asked (task_id)
      join step_tracker task using (task_id)),
  kept as materialized (
    select task_id from step_tracker
     where task_id in (select task_id from there where has_ended)
       for key share)
  insert into run_events
    (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
  select * from unnest($1::text[], $2::int[], $3::bigint[], $4::int[], $5::int[], $6::text[],
                       $7::text[], $8::text[], $9::text[])
         as segment (task_id, generation, epoch, first_seq)
   where (task_id in (select task_id from there where not has_ended)
          or task_id in (select task_id from kept))
     and (select ${isMeantFor(timeline)})
   order by task_id collate "C", generation, epoch, first_seq
  ${extendSegment}
  returning task_id, generation, epoch, first_seq`;
}

/**
 * $1 tasks, $2 generations, $3 epochs, $4 first seqs, $5 last, $6 prev hashes, $7 last, $8 states,
 * $9 events, $10 the timeline they are meant for, or null.
 * Only of tasks that are there. Retention removes none but those that ended long ago, so
 * the rows of ended ones alone are held until this has committed, or are waited for. The ids come by
 * way of a row, so that the planner takes them for few and looks each of them up.
 */
export const archiveSegments = archiveBy('', '$10');

/**
 * The same, with $10 versions, null where a run stands under the one it had, and $11
 * the timeline. Fenced by the claim: what
 * comes late says nothing about the row. One that somebody has locked is left to the next flush.
 */
export const archiveMoved = archiveBy(
  sql`
  moving as materialized (
    select task.task_id, asked.version
      from (select * from unnest($1::text[], $2::int[], $3::bigint[], $10::int[])
                   as asked (task_id, generation, epoch, version)
             where version is not null and ${isMeantFor('$11')} order by task_id collate "C" offset 0) asked
     cross join lateral (
       select task.task_id from step_tracker task
        where task.task_id = asked.task_id and ${isMoving} for no key update skip locked) task),
  moved as (
    update step_tracker task set version = moving.version, last_update = clock_timestamp()
      from moving where task.task_id = moving.task_id),`,
  '$11',
);

/**
 * $1 tasks, $2 generations, $3 epochs, $4 first seqs, $5 events: how far what is stored goes, and
 * whether it begins with those events.
 */
export const selectSegmentEnds = sql`
  select stored.task_id, stored.generation, stored.epoch, stored.first_seq,
         stored.last_seq, stored.prev_hash, stored.last_hash,
         starts_with(stored.events, left(asked.events, -1)) as begins_so
    from unnest($1::text[], $2::int[], $3::bigint[], $4::int[], $5::text[])
         as asked (task_id, generation, epoch, first_seq, events)
    join run_events stored using (task_id, generation, epoch, first_seq)`;

/** $1 tasks, $2 generations. */
export const selectHistories = sql`
  select stored.task_id, stored.generation, stored.epoch, stored.first_seq, stored.last_seq,
         stored.prev_hash, stored.last_hash, stored.state, stored.events
    from (select distinct task_id, generation
            from unnest($1::text[], $2::int[]) as run (task_id, generation)) asked
    join run_events stored using (task_id, generation)
   order by stored.task_id, stored.generation, stored.epoch, stored.first_seq`;

/** $1 tasks, $2 generations. The same without what is in them, which may be much. */
export const selectOutlines = sql`
  select stored.task_id, stored.generation, stored.epoch, stored.first_seq, stored.last_seq,
         stored.prev_hash, stored.last_hash, stored.state
    from (select distinct task_id, generation
            from unnest($1::text[], $2::int[]) as run (task_id, generation)) asked
    join run_events stored using (task_id, generation)
   order by stored.task_id, stored.generation, stored.epoch, stored.first_seq`;

/**
 * $1 task, $2 generation, $3 epoch, $4 first seq, $5 how many records to leave out, $6 bytes. In the
 * order of the array; of type json, which keeps every text as it was written.
 */
export const selectRecordsIn = sql`
  select text from (
    select record::text as text, number,
           sum(octet_length(record::text)) over (order by number) as bytes,
           row_number() over (order by number) as place
      from run_events
     cross join lateral json_array_elements(events::json) with ordinality
           as record (record, number)
     where task_id = $1 and generation = $2 and epoch = $3 and first_seq = $4 and number > $5
    ) found
   where bytes <= $6 or place = 1
   order by number`;
/** $1 tasks, $2 generations, $3 the most characters of records. For lists: one look by key for each. */
export const selectLastSegments = sql`
  select last.task_id, last.generation, last.epoch, last.first_seq, last.last_seq,
         last.prev_hash, last.last_hash, last.state,
         case when octet_length(last.events) <= $3 then last.events else '[]' end as events
    from (select distinct task_id, generation
            from unnest($1::text[], $2::int[]) as run (task_id, generation)) asked
    cross join lateral (
      select * from run_events stored
       where stored.task_id = asked.task_id and stored.generation = asked.generation
         and stored.state <> 'outcome'
       order by stored.epoch desc, stored.last_seq desc, stored.first_seq desc limit 1) last
   order by last.task_id, last.generation`;

/**
 * Whether the records of `task`, a row of step_tracker, tell its end, as whoever gets it will read
 * them. Then it is not ended in another way, and nobody can cancel it any more.
 */
export function hasToldItsEnd(task: string): string {
  const states = ENDED_STATES.map((state) => `'${state}'`).join(', ');
  return sql`
    coalesce((select head.state in (${states}) from run_events head
               where head.task_id = ${task}.task_id and head.generation = ${task}.generation
                 and head.state <> 'outcome'
               order by head.epoch desc, head.last_seq desc limit 1), false)`;
}

/** Whether the present owner of `task` has archived anything of it. */
export function hasRecords(task: string): string {
  return sql`
    exists (select 1 from run_events own
             where own.task_id = ${task}.task_id and own.generation = ${task}.generation
               and own.epoch = ${task}.claim_epoch)`;
}

/**
 * $1 tasks, $2 generations: how far the last epoch of each reaches; an outcome is no record.
 * A segment that was written again after a failover begins before others, and reaches beyond them.
 */
export const selectHeads = sql`
  select head.task_id, head.generation, head.epoch, head.last_seq, head.last_hash
    from (select distinct task_id, generation
            from unnest($1::text[], $2::int[]) as run (task_id, generation)) asked
   cross join lateral (
     select * from run_events stored
      where stored.task_id = asked.task_id and stored.generation = asked.generation
        and stored.state <> 'outcome'
      order by stored.epoch desc, stored.last_seq desc, stored.first_seq desc limit 1) head
   order by head.task_id, head.generation`;
