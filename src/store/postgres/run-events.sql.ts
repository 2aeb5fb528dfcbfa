/** Statements on run_events. Nothing here is fenced: the epoch in the key keeps owners apart. */
import { sql } from './sql.ts';

/**
 * The same segment, grown: it begins with every record that is there. Anything else is another
 * history under the same numbers and is left as it is.
 */
export const extendSegment = sql`
  on conflict (task_id, generation, epoch, first_seq) do update
     set last_seq = excluded.last_seq, last_hash = excluded.last_hash, state = excluded.state,
         events = excluded.events, at = clock_timestamp()
   where excluded.last_seq > run_events.last_seq and excluded.prev_hash = run_events.prev_hash
     and starts_with(excluded.events, left(run_events.events, -1))`;

/**
 * $1 tasks, $2 generations, $3 epochs, $4 first seqs, $5 last, $6 prev hashes, $7 last, $8 states,
 * $9 events.
 */
export const archiveSegments = sql`
  insert into run_events
    (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
  select * from unnest($1::text[], $2::int[], $3::bigint[], $4::int[], $5::int[], $6::text[],
                       $7::text[], $8::text[], $9::text[])
         as segment (task_id, generation, epoch, first_seq)
   order by task_id collate "C", generation, epoch, first_seq
  ${extendSegment}
  returning task_id, generation, epoch, first_seq`;

/** $1 tasks, $2 generations, $3 epochs, $4 first seqs: how far what is stored goes. */
export const selectSegmentEnds = sql`
  select stored.task_id, stored.generation, stored.epoch, stored.first_seq,
         stored.last_seq, stored.prev_hash, stored.last_hash
    from unnest($1::text[], $2::int[], $3::bigint[], $4::int[])
         as asked (task_id, generation, epoch, first_seq)
    join run_events stored using (task_id, generation, epoch, first_seq)`;

/** $1 tasks, $2 generations. */
export const selectHistories = sql`
  select stored.task_id, stored.generation, stored.epoch, stored.first_seq, stored.last_seq,
         stored.prev_hash, stored.last_hash, stored.state, stored.events
    from (select distinct task_id, generation
            from unnest($1::text[], $2::int[]) as run (task_id, generation)) asked
    join run_events stored using (task_id, generation)
   order by stored.task_id, stored.generation, stored.epoch, stored.first_seq`;

/** $1 tasks, $2 generations: the last segment of the last epoch of each; an outcome is no record. */
export const selectHeads = sql`
  select head.task_id, head.generation, head.epoch, head.last_seq, head.last_hash
    from (select distinct task_id, generation
            from unnest($1::text[], $2::int[]) as run (task_id, generation)) asked
   cross join lateral (
     select * from run_events stored
      where stored.task_id = asked.task_id and stored.generation = asked.generation
        and stored.state <> 'outcome'
      order by stored.epoch desc, stored.first_seq desc limit 1) head
   order by head.task_id, head.generation`;
