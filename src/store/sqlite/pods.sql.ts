/** Statements on pod_health and machine_registry. Times are @now, read under the transaction's lock. */

/** @pod and what it says of itself. The same life may register again; its row stays as it is. */
export const insertPod = `
  insert into pod_health (pod_id, name, journal_id, boot, journal_lsn, routes, report, beat_nonce,
    birth_timestamp, last_heartbeat, silent_ms)
  values (@pod, @name, @journal, @boot, @lsn, @routes, @report, @nonce, @now, @now,
    @silent_ms)
  on conflict (pod_id) do nothing`;

/** @journal, @pod: what other lives of a journal have shown of it. */
export const selectJournalSeen = `
  select coalesce(max(boot), 0) as boot, coalesce(max(journal_lsn), 0) as lsn
    from pod_health where journal_id = @journal and pod_id <> @pod`;
/** @journal, @pod. */
export const selectLivesOfJournal = `
  select pod_id, status from pod_health
   where journal_id = @journal and pod_id <> @pod and status <> 'down'
   order by birth_timestamp, pod_id`;

/**
 * @pod, @seq: the last beat taken, @since: names of its own, as JSON, or null. A clone, and a pod that
 * is dead, change no row.
 */
export const beatPod = `
  update pod_health
     set last_heartbeat = @now, beat_seq = beat_seq + 1, beat_nonce = @nonce, journal_lsn = @lsn,
         report = @report
   where pod_id = @pod and beat_seq = @seq and status in ('up', 'draining')
     and (@since is null or beat_nonce in (select value from json_each(@since)))`;

/** @pod. */
export const selectPod = `select * from pod_health where pod_id = @pod`;
export const selectFleet = `
  select * from pod_health where status <> 'down' order by birth_timestamp, pod_id`;
/** Every pod there is, with what it holds. */
export const selectPods = `
  select pod.*, (select count(*) from step_tracker where claimed_by = pod.pod_id) as claim_count
    from pod_health as pod order by birth_timestamp, pod_id`;

/** @pod. */
export const countClaims = `select count(*) as count from step_tracker where claimed_by = @pod`;
/** @pod. */
export const selectControls = `
  select task_id, generation, claim_epoch, control, control_reason from step_tracker
   where claimed_by = @pod and control is not null order by task_id`;

/** @pod. */
export const markDraining = `
  update pod_health set status = 'draining' where pod_id = @pod and status = 'up'`;
/** @pod. */
export const requestDrain = `
  update pod_health set desired = 'drain' where pod_id = @pod and status = 'up'`;

/** @pod, @by, @silent_ms: null where its death is proved. A beat that came in time saves it. */
export const fencePod = `
  update pod_health set status = 'dead', dead_at = @now, dead_by = @by
   where pod_id = @pod and status in ('up', 'draining')
     and (@silent_ms is null or last_heartbeat <= @now - coalesce(silent_ms, @silent_ms))`;

/** @pod. Last of all: nothing may be left in its hands. */
export const retirePod = `
  update pod_health set status = 'down'
   where pod_id = @pod and status = 'dead'
     and not exists (select 1 from step_tracker where claimed_by = @pod)`;

/** Owners whose pods can neither settle nor be swept. */
export const selectOwnerless = `
  select distinct claimed_by as pod_id from step_tracker
   where claimed_by is not null
     and claimed_by not in (select pod_id from pod_health where status in ('up', 'draining', 'dead'))
   order by claimed_by`;

/** @route, @machine, @fingerprint, @shape. The first one stays. */
export const insertRoute = `
  insert into machine_registry (route, machine, fingerprint, shape, first_seen)
  values (@route, @machine, @fingerprint, @shape, @now) on conflict (route) do nothing`;
/** @route, @fingerprint. */
export const selectChanged = `
  select route, fingerprint, shape from machine_registry
   where route = @route and fingerprint <> @fingerprint`;

/** Every route, as it was announced first. */
export const selectKnown = `
  select route, fingerprint, shape, first_seen from machine_registry order by route`;

/** @machines as JSON. */
export const selectAbandoned = `
  select route from machine_registry
   where machine in (select value from json_each(@machines))
     and route not in (select route.value from pod_health as pod, json_each(pod.routes) as route
                        where pod.status = 'up')
   order by route`;

/**
 * @route, @now, @until. By the index of what is due: a blocked task is left alone for a short while
 * only, so that few sleepers lie before it.
 */
export const wakeBlocked = `
  update step_tracker set run_at = @now, last_update = @now
   where task_id in (
     select task_id from step_tracker
      where route = @route and status = 'waiting' and paused = 0 and pinned_to is null
        and crashes < 2 and wait_for <> 'turn' and wait_for in ('version', 'key')
        and run_at > @now and run_at <= @until)`;

/** @before, @count. */
export const selectPodsDown = `
  select pod_id from pod_health where status = 'down' and dead_at <= @before limit @count`;
/** @before, @count. */
export const deletePodsDown = `delete from pod_health where pod_id in (${selectPodsDown})`;
