/**
 * Who is next in the queues. A place is a queue of a route at one priority; the index of what is ready goes
 * from place to place, and by due time within each.
 *
 *   priority 9   billing ─ mail ─ reports        all of a priority come before the next lower one
 *   priority 0   billing ─ default ─ mail        each queue gives its first, then each its second, …
 *
 * Of each priority the look begins behind the queue that the last claim of it ended with and goes round to
 * it, so every queue has its share though there are more of them than a claim takes. Nothing is locked before
 * it is chosen.
 */
import { onceFound, sql } from './sql.ts';

/**
 * Ascends as the priority falls, and overflows for none of them. So one index has the most urgent first, and
 * the queues of each priority in their order, and a place and all behind it are one comparison of rows.
 */
export const urgency = sql`(~priority)`;

/**
 * Written as its index is, and as one condition, so that no other index fits: with statistics from before a
 * burst the planner takes what is ready for next to nothing, and any index of the status for as good.
 */
export const READY = onceFound(
  sql`status = 'pending' and not paused and crashes < 2 and pinned_to is null`,
);

/** Queues that a claim passes over: paused ones, and those with a limit, which have their own. */
export const closed = sql`
  closed as materialized (
    select coalesce(array_agg(queue), '{}') as queues from queue_limits
     where paused or max_claimed is not null)`;

/** Whether the queue of a row, or of the table of that name, is none of those. */
export function isOpenIn(table = ''): string {
  return onceFound(sql`${table}queue <> all ((select queues from closed)::text[])`);
}

/** $2 routes; $6 of each, since when sleepers may be due. Without machines that are paused. */
export const wanted = sql`
  wanted as materialized (
    select route, to_timestamp(min(coalesce(due_from, '-infinity'))) as due_from
      from unnest($2::text[], $6::float8[]) as asked (route, due_from)
     where not exists (
       select 1 from machine_pauses where machine = regexp_replace(route, '@[^@]*$', ''))
     group by route)`;

/** $5 by route and urgency: the queue that the last claim ended with. */
const behindOf = (route: string, urgency: string) =>
  sql`coalesce($5::jsonb -> ${route} ->> (${urgency})::text, '')`;

/** So many queues of one route, closed ones among them, are looked at by one claim. */
const HOP_COUNT_MAX = 1_000;

/** Above and below every urgency. */
const [FIRST, LAST] = [-(2 ** 31) - 1, 2 ** 31];

const isReadyOf = (table: string) => sql`route = ${table}.route and ${READY}`;

/** How many of a place are looked at first, and how many at most. */
const share = sql`ceil($4::float8 / count(*) over (partition by route, urgency))::int as share,
           $4 as most`;

const inPlaces = sql`${urgency}, queue, run_at, task_id`;
const isCounted = sql`(${isOpenIn('next.')} and next.run_at <= now())::int`;

/**
 * By hops over the index, as many as there are places; no more than tasks are wanted. What follows in the
 * index is the next queue of the same priority, or else the first one of the next. So from the last queue of
 * a priority a hop goes round to its first, and from the one that the last claim ended with to the next
 * priority, where it begins behind that queue again. The first branch that has a row is the hop; a place
 * counts where its first row is due.
 */
export const placesByHops = sql`
  hop (route, urgency, behind, queue, run_at, has_turned, open_count, number) as (
    select route, ${FIRST}::bigint, '', '', now(), true, 0, 0 from wanted
    union all
    select hop.route, next.urgency, next.behind, next.queue, next.run_at, next.has_turned,
           hop.open_count + ${isCounted}, hop.number + 1
      from hop left join lateral (
        select ${urgency}::bigint as urgency, queue, run_at from step_tracker
         where ${isReadyOf('hop')} and (${urgency}, queue) > (hop.urgency, hop.queue)
         order by ${inPlaces} limit 1) following on true
     cross join lateral (
        select following.urgency, hop.behind, following.queue, following.run_at, hop.has_turned
         where following.urgency = hop.urgency
           and (not hop.has_turned or following.queue <= hop.behind)
        union all
        (select hop.urgency, hop.behind, queue, run_at, true from step_tracker
          where ${isReadyOf('hop')} and ${urgency} = hop.urgency and queue <= hop.behind
            and not hop.has_turned order by ${inPlaces} limit 1)
        union all
        (select level.urgency, edge.behind, first.queue, first.run_at, first.queue <= edge.behind
           from (
             (select following.urgency, following.queue, following.run_at
               where following.urgency > hop.urgency)
             union all
             (select ${urgency}, queue, run_at from step_tracker
               where ${isReadyOf('hop')} and ${urgency} > hop.urgency
                 and following.urgency = hop.urgency order by ${inPlaces} limit 1)
           ) level (urgency, queue, run_at)
          cross join lateral (select ${behindOf('hop.route', 'level.urgency')} as behind offset 0) edge
          cross join lateral (
             (select queue, run_at from step_tracker
               where ${isReadyOf('hop')} and ${urgency} = level.urgency and queue > edge.behind
               order by ${inPlaces} limit 1)
             union all
             select level.queue, level.run_at
             limit 1) first)
        limit 1) next (urgency, behind, queue, run_at, has_turned)
     where hop.open_count < $4 and hop.number < ${HOP_COUNT_MAX}),
  place as materialized (
    select route, urgency, queue, '-infinity'::timestamptz as ready_from, ${share}
      from hop where number > 0 and run_at <= now() and ${isOpenIn()})`;

/** So many gaps between known places are looked at; places beyond are found by a whole look. */
const GAP_COUNT_MAX = 100;

/**
 * The same where the left edge of the index is full of entries that nobody can remove yet: $11 routes, $12
 * urgencies, $13 queues, $14 since when there may be tasks in each of these places. What lies between two of
 * them is looked at too, for one place more, so that a new queue or a higher priority is found at once.
 */
export const placesKnown = sql`
  known as materialized (
    select known.route, known.urgency, known.queue, to_timestamp(known.ready_from) as ready_from
      from unnest($11::text[], $12::bigint[], $13::text[], $14::float8[])
           as known (route, urgency, queue, ready_from) join wanted using (route)),
  edge as (
    select route, urgency, queue from known union all select route, ${LAST}::bigint, '' from wanted),
  gap as (
    select route, coalesce(lag(urgency) over line, ${FIRST}) as urgency_before,
           coalesce(lag(queue) over line, '') as queue_before, urgency, queue
      from edge window line as (partition by route order by urgency, queue)),
  found_place as (
    select *, row_number() over (partition by route order by urgency, is_behind, queue) as number
      from (
        select known.*, queue <= ${behindOf('known.route', 'known.urgency')} as is_behind from known
         where ${isOpenIn('known.')} and exists (
           select 1 from step_tracker task
            where ${isReadyOf('known')} and ~task.priority = known.urgency and task.queue = known.queue
              and run_at >= known.ready_from and run_at <= now())
        union all
        select gap.route, new.urgency, new.queue, '-infinity',
               new.queue <= ${behindOf('gap.route', 'new.urgency')}
          from (select gap.*, row_number() over (
                         partition by route
                         order by urgency, queue <= ${behindOf('route', 'urgency')}, queue) as number
                  from gap) gap
         cross join lateral (
           select ${urgency}::bigint as urgency, queue from step_tracker
            where ${isReadyOf('gap')} and (${urgency}, queue) > (gap.urgency_before, gap.queue_before)
              and (${urgency}, queue) < (gap.urgency, gap.queue) and ${isOpenIn()}
            order by ${urgency}, queue limit 1) new
         where gap.number <= ${GAP_COUNT_MAX}) found),
  place as materialized (
    select route, urgency, queue, ready_from,
           ${share}
      from found_place where number <= $4)`;

/** $11 queues with limits that are held, $12 how much room each has. */
export const rooms = sql`
  room as materialized (
    select * from unnest($11::text[], $12::int[]) as room (queue, count)
     where count > 0 and $3::text is not null)`;

/** So many priorities of one route are looked at for queues with limits. */
const LEVEL_COUNT_MAX = 100;

/** Of those queues, as much as they have room for. */
export const placesWithRoom = sql`
  level (route, urgency, number) as (
    select route, ${FIRST}::bigint, 0 from wanted
    union all
    select level.route, next.urgency, level.number + 1
      from level cross join lateral (
        select ${urgency}::bigint as urgency from step_tracker
         where ${isReadyOf('level')} and ${urgency} > level.urgency
         order by ${urgency} limit 1) next
     where level.number < ${LEVEL_COUNT_MAX}),
  place as materialized (
    select level.route, level.urgency, room.queue, '-infinity'::timestamptz as ready_from,
           least(room.count, ceil($4::float8 / count(*) over (partition by level.route, level.urgency))::int)
             as share, least($4, room.count) as most
      from level cross join room where level.number > 0)`;

function rowsIn(place: string, limit: string): string {
  return sql`
        select task_id, priority, run_at, claim_epoch from step_tracker
         where route = ${place}.route and ${urgency} = ${place}.urgency and queue = ${place}.queue
           and ${READY} and run_at >= ${place}.ready_from and run_at <= now()
         order by run_at, task_id ${limit}`;
}

/**
 * What is ready in the places: an equal share of what is wanted, and where some queues of a level have less
 * than theirs, more of the others.
 */
export const readyHead = sql`
  shared as materialized (
    select place.*, task.task_id, task.priority, task.run_at, task.claim_epoch
      from place cross join lateral (${rowsIn('place', 'limit place.share')}) task
     where exists (select 1 from fence)),
  longer as materialized (
    select place.* from place
      join (select route, urgency from shared group by route, urgency having count(*) < $4) level
     using (route, urgency)
      join (select route, urgency, queue, count(*) as count from shared
             group by route, urgency, queue) found using (route, urgency, queue)
     where found.count = place.share and place.share < place.most),
  ready_head as materialized (
    select task_id, route, queue, priority, run_at, claim_epoch, ready_from from shared
    union all
    select task.task_id, longer.route, longer.queue, task.priority, task.run_at, task.claim_epoch,
           longer.ready_from
      from longer cross join lateral (${rowsIn('longer', 'offset longer.share limit longer.most')}) task)`;

/** The highest priority; of each queue its first, then of each its second; within a queue by due time. */
export const inShares = sql`priority desc, number, is_behind, queue, run_at, task_id`;

const IN_QUEUE = sql`,
           row_number() over (partition by queue order by priority desc, run_at, task_id) as in_queue`;
const WITHIN_ROOM = sql`
      join room on room.queue = numbered.queue and numbered.in_queue <= room.count`;

/** By the columns of a head. `isWithinRoom`: of each queue no more than it has room for. */
export function chosenFrom(heads: readonly string[], isWithinRoom = false): string {
  const [more, where] = isWithinRoom ? [IN_QUEUE, WITHIN_ROOM] : ['', ''];
  const all = heads.map(
    (name) => sql`
        select '${name}' as head, task_id, route, queue, priority, run_at, claim_epoch,
               ${name === 'ready' ? '' : `'-infinity'::timestamptz as `}ready_from
          from ${name}_head`,
  );
  return sql`
  numbered as materialized (
    select found.*, queue <= ${behindOf('route', '~priority')} as is_behind,
           row_number() over (partition by priority, queue order by run_at, task_id) as number${more}
      from (${all.join(' union all ')}) found),
  chosen as materialized (
    select numbered.* from numbered ${where} order by ${inShares} limit $4)`;
}

/**
 * Of the places, as many as were chosen there, from the first that no rival has: two who look at the same
 * time choose the same, and each gets its own.
 */
export const lockedOfChosen = sql`
  quota as materialized (
    select route, ~priority as urgency, queue, ready_from, count(*) as count
      from chosen where head = 'ready' group by 1, 2, 3, 4),
  locked as materialized (
    select task_id, claim_epoch, head from chosen where head <> 'ready'
    union all
    select task.task_id, task.claim_epoch, 'ready'
      from quota cross join lateral (${rowsIn('quota', 'limit quota.count for update skip locked')}) task)`;
