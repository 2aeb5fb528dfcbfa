/** Statements on step_tracker by which a pod takes tasks, and finds again what it has taken. */
import { BLOCKED_MS_MAX, COUNT_MAX } from '../bounds.ts';
import { fenceOf, nextEpoch, onceFound, sql } from './sql.ts';
import { tallies } from './step-tracker.sql.ts';

/**
 * What an owner gets to know of a task. A payload of more than `bytesMax` stays where it is: some of
 * those in one answer, and the answer would never come. Only its size is told, which costs nothing.
 * Undefined: none is asked for. `dueAt` is when it was due before the statement changed that.
 */
export function claimedColumns(bytesMax: string | undefined, dueAt = 'task.run_at'): string {
  const bytes = sql`octet_length(task.payload)`;
  const payload =
    bytesMax === undefined
      ? sql`null::text as payload, null::int as oversize`
      : sql`case when ${bytes} <= ${bytesMax} then task.payload end as payload,
  case when ${bytes} > ${bytesMax} then ${bytes} end as oversize`;
  return sql`
  task.task_id, task.generation, task.claim_epoch, task.machine, task.version,
  ${payload},
  task.key, task.key_generation, task.carry_from, task.retry_count, task.retries_max, task.crashes,
  task.interrupted, task.cut_epoch, task.last_seq, task.control, task.trace_parent, task.pinned_to,
  task.claim_token, task.last_hash,
  ((extract(epoch from task.deadline_at) - extract(epoch from clock_timestamp())) * 1000)::float8
    as deadline_ms,
  case when task.deadline_at is null then greatest(0, (extract(epoch from clock_timestamp())
    - extract(epoch from coalesce(
        (select min(at) from run_events part
          where part.task_id = task.task_id and part.generation = task.generation),
        greatest(task.created_at, ${dueAt})))) * 1000)::float8 end as age_ms,
  case when task.claimed_at is not null then greatest(0, (extract(epoch from task.claimed_at)
    - extract(epoch from task.run_at)) * 1000)::float8 end as waited_ms`;
}

const claimedNames = sql`
  task_id, generation, claim_epoch, machine, version, payload, key, key_generation, carry_from,
  retry_count, retries_max, crashes, interrupted, cut_epoch, last_seq, control, trace_parent,
  pinned_to, claim_token, last_hash, deadline_ms, age_ms, waited_ms, oversize`;

/** Each head is written as its index is, or the planner would not use it. */
const HEADS = {
  ready: [
    {
      name: 'ready',
      where: sql`status = 'pending' and not paused and crashes < 2 and pinned_to is null`,
      order: 'priority desc, run_at, task_id',
      isByQueue: true,
    },
    {
      name: 'due',
      where: sql`status = 'waiting' and wait_for <> 'turn' and not paused and crashes < 2
              and pinned_to is null`,
      order: 'run_at, task_id',
      isByQueue: false,
    },
  ],
  suspect: [
    {
      name: 'suspect',
      where: sql`status in ('pending', 'waiting') and wait_for is distinct from 'turn' and not paused
              and crashes >= 2 and pinned_to is null`,
      order: 'run_at, task_id',
      isByQueue: false,
    },
  ],
} as const;

/** A pod's own head: what is pinned to its journal, of any route it has. */
const PINNED = {
  ready: sql`crashes < 2`,
  suspect: sql`crashes >= 2`,
} as const;

export const lock = sql`for update skip locked`;

/** The heads of routes: of each queue by itself where there may be many, or else of all that are open. */
export function routeHeads(kind: keyof typeof HEADS, locking: string, isOpen: string): string[] {
  return HEADS[kind].map(
    ({ name, where, order, isByQueue }) => sql`
  ${name}_head as materialized (
    select head.* from ${isByQueue ? 'place' : 'wanted as place'} cross join lateral (
      select task_id, priority, run_at, claim_epoch, queue from step_tracker
       where route = place.route and ${isByQueue ? 'queue = place.queue' : isOpen}
         and ${where} and run_at <= now()
       order by ${order} limit $4 ${locking}) head
     where exists (select 1 from fence))`,
  );
}

/** Queues that a claim passes over: paused ones, and those with a limit, which have their own. */
const closed = sql`
  closed as materialized (
    select coalesce(array_agg(queue), '{}') as queues from queue_limits
     where paused or max_claimed is not null)`;
const isOpen = onceFound(sql`queue <> all ((select queues from closed)::text[])`);

/** More queues of one route are not looked at by one claim. */
const QUEUE_COUNT_MAX = 1_000;

/** What the pod has, without machines that are paused. */
const wanted = sql`
  wanted as materialized (
    select distinct route from unnest($2::text[]) as route
     where not exists (
       select 1 from machine_pauses where machine = regexp_replace(route, '@[^@]*$', '')))`;

/** By hops over the index: what is ready, by route and queue. */
const places = sql`
  hop (route, queue, number) as (
    select wanted.route, first.queue, 1 from wanted cross join lateral (
      select queue from step_tracker where route = wanted.route and ${HEADS.ready[0].where}
       order by queue limit 1) first
    union all
    select hop.route, next.queue, hop.number + 1 from hop cross join lateral (
      select queue from step_tracker
       where route = hop.route and ${HEADS.ready[0].where} and queue > hop.queue
       order by queue limit 1) next
     where hop.number < ${QUEUE_COUNT_MAX}),
  place as materialized (select route, queue from hop where ${isOpen})`;

function headsOf(kind: keyof typeof HEADS, locking: string): string {
  const heads = routeHeads(kind, locking, isOpen);
  const pinned = sql`
  pinned_head as materialized (
    select task_id, priority, run_at, claim_epoch, queue from step_tracker
     where pinned_to = $3 and pinned_to is not null and status in ('pending', 'waiting')
       and wait_for is distinct from 'turn' and not paused and ${PINNED[kind]}
       and route = any ($2) and run_at <= now() and exists (select 1 from fence)
     order by run_at, task_id limit $4 ${locking})`;
  const names = [...HEADS[kind].map(({ name }) => `${name}_head`), 'pinned_head'];
  const all = names.map((name) => `select * from ${name}`).join(' union all ');
  const routes = kind === 'ready' ? [wanted, places] : [wanted];
  return [closed, ...routes, ...heads, pinned, sql` head as (${all})`].join(',');
}

/** Said again of the row itself: it may have been put off or paused while the update waited for it. */
function isClaimable(kind: keyof typeof HEADS): string {
  return sql`
       task.status in ('pending', 'waiting') and task.wait_for is distinct from 'turn'
       and not task.paused and task.run_at <= now() and task.${PINNED[kind]}`;
}

/** `heads`: what `pick` picks from. */
export function claimBy(kind: keyof typeof HEADS, heads: string, pick: string): string {
  return sql`
  with recursive ${fenceOf(`'up'`, '$8')},${heads},
  pick as materialized (${pick}),
  claimed as (
    update step_tracker task
       set status = 'claimed', wait_for = null, waiting_on = null, claimed_by = $1, claim_token = $6,
           claimed_at = clock_timestamp(), claims = least(claims, ${COUNT_MAX - 1}) + 1,
           serial_held = serial_key is not null, claim_epoch = ${nextEpoch},
           last_update = clock_timestamp()
      from pick
     where task.task_id = pick.task_id and ${onceFound(sql`
       task.claim_epoch = pick.claim_epoch and ${isClaimable(kind)}`)}
    returning ${claimedColumns('$7::int')}, task.priority, task.run_at)
  select ${claimedNames} from claimed order by priority desc, run_at, task_id`;
}

/** A limit that the planner cannot see: it would read a whole small table for a hundred of its rows. */
export const limit = sql`limit (select $5::int)`;

export const mostUrgent = sql`
    select task_id, claim_epoch from head order by priority desc, run_at, task_id ${limit}`;

/**
 * Of several times as many as wanted, each pod prefers others of the same priority: rivals seldom
 * meet. In the order of ids, so that those who do meet wait for each other in one direction only.
 */
const rendezvous = sql`
    select * from (
      select task_id, claim_epoch from (
        select * from head order by priority desc, run_at, task_id limit $4) urgent
       order by priority desc, md5($1 || task_id) ${limit}) mine
     order by task_id offset 0`;

/**
 * $1 pod, $2 routes, $3 journal, $4 how many to look at in each head, $5 how many to take, $6 token,
 * $7 the largest payload that is handed over, in bytes, $8 the timeline it is meant for, or null.
 * Fenced: a pod that is not up claims nothing. `skip-locked` passes over what a rival is taking;
 * `cas` lets the row decide, which takes away what a rival has taken meanwhile.
 */
export const claimTasks = {
  'skip-locked': {
    ready: claimBy('ready', headsOf('ready', lock), mostUrgent),
    suspect: claimBy('suspect', headsOf('suspect', lock), mostUrgent),
  },
  cas: {
    ready: claimBy('ready', headsOf('ready', ''), rendezvous),
    suspect: claimBy('suspect', headsOf('suspect', ''), rendezvous),
  },
} as const;

/** As a head is looked at, without touching it: $1 pod, $2 routes, $3 journal, $4 count. Answers ids. */
function lookAt(kind: keyof typeof HEADS): string {
  return sql`
  with recursive ${fenceOf(`'up'`)},
  ${headsOf(kind, '')}
  select task_id from head order by priority desc, run_at, task_id limit $4`;
}
export const selectHead = { ready: lookAt('ready'), suspect: lookAt('suspect') } as const;

const single = sql`
    select task_id, claim_epoch from step_tracker
     where task_id = $4 and route = any ($2) and (pinned_to is null or pinned_to = $3)
       and (pinned_to is not null or ${isOpen})
       and exists (select 1 from fence) ${limit} ${lock}`;

/** One task: $4 is its id and $5 is 1. The others as in `claimTasks`. */
export const claimTask = {
  ready: claimBy('ready', closed, single),
  suspect: claimBy('suspect', closed, single),
} as const;

/** $1 pod, $2 after this id, $3 count, $4 the largest payload in bytes. */
export const selectHeld = sql`
  select ${claimedColumns('$4::int')} from step_tracker task
   where claimed_by = $1 and task_id > $2 order by task_id limit $3`;

/**
 * $1 pod, $2 ids, $3 machines, $4 versions, $5 payloads, $6 journals, $7 deadlines in ms,
 * $8 ages in ms. Fenced like a claim, for it is one.
 */
export const mirrorRuns = sql`
  with ${fenceOf(`'up'`)},
  run as materialized (
    select * from unnest($2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::float8[],
                         $8::float8[])
           as run (task_id, machine, version, payload, journal, deadline_ms, age_ms)
     order by task_id collate "C")
  insert into step_tracker as task
    (task_id, machine, version, payload, pinned_to, deadline_at, created_at, run_at, status,
     claimed_by, claimed_at, claims, claim_epoch)
  select run.task_id, run.machine, run.version, run.payload, run.journal,
         now() + (run.deadline_ms - run.age_ms) * interval '1 millisecond',
         now() - run.age_ms * interval '1 millisecond',
         now() - run.age_ms * interval '1 millisecond', 'claimed', $1, clock_timestamp(), 1,
         ${nextEpoch.replaceAll('task.claim_epoch', '0')}
    from run, fence
  on conflict (task_id) do nothing
  returning task_id, generation, claim_epoch`;

/** $1 pod, $2 ids, $3 journals: which of them are this pod's after all. */
export const selectMirrored = sql`
  select task.task_id, task.generation, task.claim_epoch
    from unnest($2::text[], $3::text[]) as run (task_id, journal)
    join step_tracker task using (task_id)
   where ${onceFound(sql`task.pinned_to = run.journal and task.claimed_by = $1`)}`;

/**
 * $1 routes: what waits for one of them, or for a key that whoever comes may have, is due. By the
 * index of what is due, as its head is looked at: such a task is left alone for a short while only, so
 * that few sleepers lie before it. A row that somebody has locked is left to its time.
 */
export const wakeBlocked = sql`
  with wanted as (select distinct unnest($1::text[]) as route),
  blocked as materialized (
    select found.task_id from wanted cross join lateral (
      select task_id from step_tracker
       where route = wanted.route and ${HEADS.ready[1].where} and wait_for in ('version', 'key')
         and run_at > now() and run_at <= now() + ${BLOCKED_MS_MAX} * interval '1 millisecond'
       order by task_id for no key update skip locked) found)
  update step_tracker task set run_at = now(), last_update = clock_timestamp()
    from blocked where task.task_id = blocked.task_id`;

/** $1 routes: what is in their heads, due or not. By the indexes of those. */
export const countClaimable = sql`
  select ${tallies} from step_tracker
   where route = any ($1::text[]) and (
     ${[...HEADS.ready, ...HEADS.suspect].map(({ where }) => `(${where})`).join(' or ')})
   group by route, machine, version order by route collate "C"`;

/** $1 routes. By the index of suspects, which is mostly empty. */
export const selectHasSuspects = sql`
  select exists (
    select 1 from step_tracker
     where route = any($1::text[]) and ${HEADS.suspect[0].where} and run_at <= now()) as has_suspects`;
