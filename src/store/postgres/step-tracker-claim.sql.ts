/** Statements on step_tracker by which a pod takes tasks, and finds again what it has taken. */
import { BLOCKED_MS_MAX, COUNT_MAX } from '../bounds.ts';
import {
  chosenFrom,
  closed,
  inShares,
  isOpenIn,
  lockedOfChosen,
  placesByHops,
  placesKnown,
  placesWithRoom,
  READY,
  readyHead,
  rooms,
  wanted,
} from './ready-head.sql.ts';
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
  task.task_id, task.generation, task.claim_epoch, task.machine, task.version, task.queue,
  ${payload},
  task.priority, task.key, task.key_generation, task.carry_from, task.retry_count, task.retries_max,
  task.crashes, task.interrupted, task.cut_epoch, task.last_seq, task.control, task.trace_parent,
  task.pinned_to, task.claim_token, task.last_hash,
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
  task_id, generation, claim_epoch, machine, version, payload, priority, key, key_generation, carry_from,
  retry_count, retries_max, crashes, interrupted, cut_epoch, last_seq, control, trace_parent,
  pinned_to, claim_token, last_hash, deadline_ms, age_ms, waited_ms, oversize`;

/** Each head is written as its index is, or the planner would not use it. */
const DUE = sql`status = 'waiting' and wait_for <> 'turn' and not paused and crashes < 2
              and pinned_to is null`;
const SUSPECT = sql`status in ('pending', 'waiting') and wait_for is distinct from 'turn' and not paused
              and crashes >= 2 and pinned_to is null`;

/** As what is ready: see `READY`. */
const IS_PINNED = onceFound(sql`status in ('pending', 'waiting') and pinned_to is not null`);

/** A pod's own head: what is pinned to its journal, of any route it has. */
const PINNED = {
  ready: sql`crashes < 2`,
  suspect: sql`crashes >= 2`,
} as const;

type Kind = keyof typeof PINNED;

const headColumns = sql`task_id, route, queue, priority, run_at, claim_epoch`;
const lock = sql`for update skip locked`;

/** The first of each route by due time, whatever queue they are in. */
function headBy(name: string, where: string, isOpen: string, locking: string): string {
  return sql`
  ${name}_head as materialized (
    select head.* from wanted cross join lateral (
      select ${headColumns} from step_tracker
       where route = wanted.route and ${isOpen} and ${where}
         and run_at >= wanted.due_from and run_at <= now()
       order by run_at, task_id limit $4 ${locking}) head
     where exists (select 1 from fence))`;
}

function pinnedHead(kind: Kind, locking: string): string {
  return sql`
  pinned_head as materialized (
    select ${headColumns} from step_tracker
     where pinned_to = $3 and ${IS_PINNED}
       and wait_for is distinct from 'turn' and not paused and ${PINNED[kind]}
       and route = any ($2) and run_at <= now() and exists (select 1 from fence)
     order by run_at, task_id limit $4 ${locking})`;
}

/** `locking` is for heads that are taken as they are found; of queues only what is chosen is locked. */
function headsOf(kind: Kind, locking: string, places = placesByHops): string {
  const [isOpen, pinned] = [isOpenIn(), pinnedHead(kind, locking)];
  const parts =
    kind === 'ready'
      ? [places, readyHead, headBy('due', DUE, isOpen, locking), pinned]
      : [headBy('suspect', SUSPECT, isOpen, locking), pinned];
  const names = { ready: ['ready', 'due', 'pinned'], suspect: ['suspect', 'pinned'] }[kind];
  return [closed, wanted, ...parts, chosenFrom(names)].join(',');
}

/** Said again of the row itself: it may have been put off or paused while the update waited for it. */
function isClaimable(kind: Kind): string {
  return sql`
       task.status in ('pending', 'waiting') and task.wait_for is distinct from 'turn'
       and not task.paused and task.run_at <= now() and task.${PINNED[kind]}`;
}

/** `pick` is the last of `parts`. */
function claimBy(kind: Kind, ...parts: readonly string[]): string {
  return sql`
  with recursive ${fenceOf(`'up'`, '$9')},${parts.join(',')},
  claimed as (
    update step_tracker task
       set status = 'claimed', wait_for = null, waiting_on = null, claimed_by = $1, claim_token = $7,
           claimed_at = clock_timestamp(), claims = least(claims, ${COUNT_MAX - 1}) + 1,
           serial_held = serial_key is not null, claim_epoch = ${nextEpoch},
           last_update = clock_timestamp()
      from pick
     where task.task_id = pick.task_id and ${onceFound(sql`
       task.claim_epoch = pick.claim_epoch and ${isClaimable(kind)}`)}
    returning ${claimedColumns('$8::int')}, task.route, task.run_at, pick.head)
  select ${claimedNames}, queue, route, head, extract(epoch from run_at)::float8 as ready_at
    from claimed`;
}

/** A limit that the planner cannot see: it would read a whole small table for a hundred of its rows. */
const limit = sql`limit (select $10::int)`;

const takeAll = sql`
  pick as materialized (select task_id, claim_epoch, head from chosen ${limit})`;

/**
 * Of several times as many as wanted, each pod prefers others of the same priority: rivals seldom
 * meet. In the order of ids, so that those who do meet wait for each other in one direction only.
 */
const rendezvous = sql`
  pick as materialized (
    select * from (
      select task_id, claim_epoch, head from chosen
       order by priority desc, md5($1 || task_id) ${limit}) mine
     order by task_id offset 0)`;

const lockedUpTo = sql`${lockedOfChosen},
  pick as materialized (select * from locked ${limit})`;

/**
 * $1 pod, $2 routes, $3 journal, $4 how many to look at in each head; $5 by route and urgency the queue
 * that the last claim ended with; $6 of each route since when sleepers may be due; $7 token, $8 the largest
 * payload that is handed over, in bytes, $9 the timeline it is meant for, or null, $10 how many to take.
 * Fenced: a pod that is not up claims nothing. `skip-locked` passes over what a rival is taking; `cas` lets
 * the row decide, which takes away what a rival has taken meanwhile.
 */
export const claimTasks = {
  'skip-locked': {
    ready: claimBy('ready', headsOf('ready', lock), lockedUpTo),
    suspect: claimBy('suspect', headsOf('suspect', lock), takeAll),
  },
  cas: {
    ready: claimBy('ready', headsOf('ready', ''), rendezvous),
    suspect: claimBy('suspect', headsOf('suspect', ''), rendezvous),
  },
} as const;

/** The same, from the places that are known: see `placesKnown` for $11 to $14. */
export const claimKnown = {
  'skip-locked': claimBy('ready', headsOf('ready', lock, placesKnown), lockedUpTo),
  cas: claimBy('ready', headsOf('ready', '', placesKnown), rendezvous),
} as const;

function claimWithin(kind: Kind): string {
  const isHeld = sql`queue = any ($11::text[])`;
  const heads = {
    ready: [placesWithRoom, readyHead, headBy('due', DUE, isHeld, lock)],
    suspect: [headBy('suspect', SUSPECT, isHeld, lock)],
  }[kind];
  const names = { ready: ['ready', 'due'], suspect: ['suspect'] }[kind];
  const pick = { ready: lockedUpTo, suspect: takeAll }[kind];
  return claimBy(kind, wanted, rooms, ...heads, chosenFrom(names, true), pick);
}

/**
 * As `claimTasks`, without what is pinned to a journal; $11 queues whose limits are held, $12 how much room
 * each has.
 */
export const claimLimited = {
  ready: claimWithin('ready'),
  suspect: claimWithin('suspect'),
} as const;

/** As a head is looked at, without touching it: $1 to $6. Answers ids. */
function lookAt(kind: Kind): string {
  return sql`
  with recursive ${fenceOf(`'up'`)},
  ${headsOf(kind, '')}
  select task_id from chosen order by ${inShares}`;
}
export const selectHead = { ready: lookAt('ready'), suspect: lookAt('suspect') } as const;

const single = sql`
  pick as materialized (
    select task_id, claim_epoch, 'single' as head from step_tracker
     where task_id = $4 and $5::jsonb is not null and route = any ($2)
       and (pinned_to is null or pinned_to = $3)
       and (pinned_to is not null or route in (select route from wanted) and ${isOpenIn()})
       and exists (select 1 from fence) ${limit} ${lock})`;

/** One task: $4 is its id and $10 is 1; $5 says nothing. The others as in `claimTasks`. */
export const claimTask = {
  ready: claimBy('ready', closed, wanted, single),
  suspect: claimBy('suspect', closed, wanted, single),
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
       where route = wanted.route and ${DUE} and wait_for in ('version', 'key')
         and run_at > now() and run_at <= now() + ${BLOCKED_MS_MAX} * interval '1 millisecond'
       order by task_id for no key update skip locked) found)
  update step_tracker task set run_at = now(), last_update = clock_timestamp()
    from blocked where task.task_id = blocked.task_id`;

/** $1 routes: what is in their heads, due or not. By the indexes of those. */
export const countClaimable = sql`
  select ${tallies} from step_tracker
   where route = any ($1::text[]) and (
     ${[READY, DUE, SUSPECT].map((where) => `(${where})`).join(' or ')})
   group by route, machine, version order by route collate "C"`;

/** $1 routes. By the index of suspects, which is mostly empty. */
export const selectHasSuspects = sql`
  select exists (
    select 1 from step_tracker
     where route = any($1::text[]) and ${SUSPECT} and run_at <= now()) as has_suspects`;
