/** Statements on pod_health: births, heartbeats, fences. */
import { LOOKOUTS } from '../fleet-sight.ts';
import { AUDIBLE_BEATS, STALLED_IN_REPORT } from '../pods.ts';
import { agoOf, msOf, spanOf, sql, timeline } from './sql.ts';
import { reportsTold, throttlesTold } from './throttle-state.sql.ts';

/**
 * $1 pod, $2 name, $3 journal, $4 boot, $5 lsn, $6 routes, $7 report, $8 nonce, $9 its silence in ms.
 * No row comes back where somebody else has the id; the same birth sent again is answered as at first.
 */
export const registerPod = sql`
  insert into pod_health (pod_id, name, journal_id, boot, journal_lsn, routes, report, beat_nonce,
                          silent_ms)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (pod_id) do update set boot = excluded.boot
   where pod_health.journal_id = excluded.journal_id and pod_health.boot = excluded.boot
     and pod_health.status = 'up'
  returning pod_id`;

/** $1 journal, $2 the pod that asks. */
export const selectJournalSeen = sql`
  select pod_id, status, boot, journal_lsn from pod_health
   where journal_id = $1 and pod_id <> $2 order by birth_timestamp, pod_id`;

function glimpseOf(silentFor: string, isStalled: string): string {
  return sql`
  json_build_object('pod', pod_id, 'name', name, 'status', status, 'seq', beat_seq,
                    'silentMs', ${silentFor}, 'silenceMs', silent_ms,
                    'isStalled', ${isStalled}, 'deadBy', dead_by)`;
}

const isStalled = sql`position('${STALLED_IN_REPORT}' in report) > 0`;
const glimpse = glimpseOf(agoOf('last_heartbeat'), isStalled);

/** The silence a pod registered with; `otherwise` for one that gave none. */
export function silenceOf(otherwise: string): string {
  return spanOf(sql`coalesce(silent_ms, ${otherwise})`);
}

/**
 * What fleet-sight.ts decides by. $1 pod, $5 its report, $8 its heartbeat in ms, $9 silence in ms of a pod
 * that gave none. A statement sees the moment before it, so the pod's own row counts here as it becomes.
 */
const fleetSight = sql`
  pods as materialized (
    select pod_id, name, journal_id, birth_timestamp, status, beat_seq, silent_ms, dead_at, dead_by,
           case when pod_id = $1 then 0 else ${agoOf('last_heartbeat')} end as silent_for,
           position('${STALLED_IN_REPORT}' in case when pod_id = $1 then $5 else report end) > 0
             as is_stalled
      from pod_health where status <> 'down'),
  sight as materialized (
    select count(*) as pod_count, count(*) filter (where status = 'up') as up,
           count(*) filter (where status = 'up' and silent_for
                              < coalesce(${AUDIBLE_BEATS} * $8::float8, 'infinity')) as heard,
           sum(hashtext(pod_id)) filter (where status = 'up') as mark,
           array_agg(pod_id order by birth_timestamp, pod_id) filter (
             where status = 'up' and silent_for < coalesce(silent_ms, $9::float8)
               and not is_stalled) as able,
           max(case status when 'dead' then ${agoOf('dead_at')}
                    else silent_for - coalesce(silent_ms, $9::float8) end) as overdue
      from pods)`;

/** All of the fleet where the pod gave no times, or is among the first; the turn that has begun counts. */
const seesAll = sql`($8::float8 is null or array_position(able, $1) <= ${LOOKOUTS}
      + (overdue >= 0)::integer * (1 + floor(overdue / ($8::float8 + $9::float8))))`;

/**
 * $1 pod, $2 the last seq taken, $3 nonce, $4 lsn, $5 report, $6 whether it leads, $7 names of its own, or
 * null, $8 and $9 as above. The caller puts the number of the beat in its own glimpse right.
 */
export const beatPod = sql`
  with beaten as (
    update pod_health
       set last_heartbeat = clock_timestamp(), beat_seq = beat_seq + 1, beat_nonce = $3,
           journal_lsn = $4, report = $5
     where pod_id = $1 and beat_seq = $2 and status in ('up', 'draining')
       and ($7::text[] is null or beat_nonce = any($7::text[]))
    returning beat_seq, status, desired, journal_id),
  ${fleetSight}
  select beaten.beat_seq, beaten.status, beaten.desired, ${timeline} as timeline,
         (select count(*) from step_tracker where claimed_by = $1) as claim_count,
         (select json_agg(json_build_object(
                   'task', task_id, 'generation', generation, 'epoch', claim_epoch,
                   'control', control, 'reason', coalesce(control_reason, '')) order by task_id)
            from step_tracker where claimed_by = $1 and control is not null) as controls,
         (select json_agg(${glimpseOf('silent_for', 'is_stalled')} order by birth_timestamp, pod_id)
            from pods
           where ${seesAll} or pod_id = able[1] or journal_id = beaten.journal_id) as fleet,
         pod_count, up, heard, mark, ${throttlesTold} as throttles,
         case when $6 then ${reportsTold} end as reports
    from beaten, sight`;

/** $1 pod. */
export const selectBeat = sql`
  select status, beat_seq, beat_nonce from pod_health where pod_id = $1`;

/** $1 pod. The explicit lock waits for claims in flight: none commits once this has. */
export const markPodDraining = sql`
  update pod_health set status = 'draining'
   where pod_id = (select pod_id from pod_health where pod_id = $1 and status = 'up' for update)
  returning pod_id`;

/** $1 pod. */
export const requestPodDrain = sql`
  update pod_health set desired = 'drain' where pod_id = $1 and status = 'up' returning pod_id`;

export const selectPods = sql`
  select pod_id, name, journal_id, boot, ${msOf('birth_timestamp')} as born_at,
         ${msOf('last_heartbeat')} as beat_at, ${agoOf('last_heartbeat')} as silent_for, beat_seq,
         status, desired, routes, journal_lsn, report, silent_ms, ${msOf('dead_at')} as dead_at, dead_by,
         (select count(*) from step_tracker where claimed_by = pod_id) as claim_count
    from pod_health order by birth_timestamp, pod_id`;

const inReport = (name: string) => sql`substring(report from '"${name}":([0-9]{1,9})')::int`;

/**
 * Routes of pods that are up, and which of these pods a notification may name: none that has been silent for
 * half of what it may be, that cannot write its journal, or was full by its last heartbeat.
 */
export const selectPodGroups = sql`
  select routes, coalesce(array_agg(pod_id) filter (where
           position('${STALLED_IN_REPORT}' in report) = 0
           and last_heartbeat > clock_timestamp() - ${silenceOf('15000')} / 2
           and (${inReport('held')} >= ${inReport('capacity')}) is not true), '{}') as pods
    from (select * from pod_health where status = 'up' limit 1000) pod
   group by routes`;

/** Whoever holds tasks, found by hops over the index: as many as there are, not tasks. */
export const owners = sql`owners (owner) as (
    (select claimed_by from step_tracker where claimed_by is not null order by claimed_by limit 1)
    union all
    select (select claimed_by from step_tracker where claimed_by > owner order by claimed_by limit 1)
      from owners where owner is not null)`;

/** $1 silence in ms of a pod that gave none. */
export const selectWorklist = sql`
  with recursive ${owners}
  select (select json_agg(${glimpse} order by birth_timestamp, pod_id) from pod_health
           where status in ('up', 'draining')
             and last_heartbeat < clock_timestamp() - ${silenceOf('$1::float8')}) as silent,
         (select json_agg(${glimpse} order by birth_timestamp, pod_id) from pod_health
           where status = 'dead') as dead,
         (select json_agg(owner order by owner) from owners where owner is not null
             and not exists (select 1 from pod_health pod
                              where pod.pod_id = owner and pod.status <> 'down')) as ownerless,
         (select count(*) from pod_health where status in ('up', 'draining')) as live_count`;

/**
 * $1 pod, $2 who says so, $3 silence in ms of a pod that gave none. The row is locked first, and
 * looked at under the lock: a plain update would let settles in flight pass.
 */
export const fencePod = sql`
  update pod_health set status = 'dead', dead_at = clock_timestamp(), dead_by = $2
   where pod_id = (
     select pod_id from pod_health
      where pod_id = $1 and status in ('up', 'draining')
        and last_heartbeat < clock_timestamp() - ${silenceOf('$3::float8')}
        for update skip locked)
  returning pod_id`;

/**
 * $1 pod, $2 who says so: its death is proved. A row that is locked is an error and not passed over:
 * the last statement of a dead process may go on for a while, and nobody else will come back to it.
 */
export const fenceProvenPod = sql`
  update pod_health set status = 'dead', dead_at = clock_timestamp(), dead_by = $2
   where pod_id = (
     select pod_id from pod_health
      where pod_id = $1 and status in ('up', 'draining')
        for update nowait)
  returning pod_id`;

/** $1 pod. Nothing can be claimed by a pod that is dead, so what is not there now never will be. */
export const retirePod = sql`
  update pod_health set status = 'down'
   where pod_id = $1 and status in ('dead', 'down')
     and not exists (select 1 from step_tracker where claimed_by = $1)
  returning pod_id`;

/** $1 age in ms. */
export const deletePods = sql`
  delete from pod_health
   where status = 'down' and dead_at < clock_timestamp() - ${spanOf('$1::float8')}
     and not exists (select 1 from step_tracker where claimed_by = pod_id)`;
