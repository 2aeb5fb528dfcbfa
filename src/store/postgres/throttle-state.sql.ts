/** Statements on throttle_state. */
import { THROTTLES_TOLD_MAX } from '../throttles.ts';
import { agoOf, msOf, spanOf, sql } from './sql.ts';

/** A pin whose time is over is none. */
const pinned = sql`case when pinned_until is null or pinned_until > clock_timestamp() then pinned end`;

/** What a heartbeat brings of all APIs. */
export const throttlesTold = sql`
  (select json_agg(json_build_object('api', api, 'epoch', epoch, 'ageMs', ${agoOf('made_at')},
                                     'state', state, 'pinned', ${pinned}))
     from (select * from throttle_state order by made_at desc, api
            limit ${String(THROTTLES_TOLD_MAX)}) as api)`;

/** What a heartbeat of whoever leads brings of all pods. */
export const reportsTold = sql`
  (select json_agg(json_build_object('pod', pod_id, 'ageMs', ${agoOf('last_heartbeat')},
                                     'report', report) order by pod_id)
     from pod_health where status in ('up', 'draining'))`;

/** $1 APIs, $2 epochs seen, $3 states: each is written only where the row has that epoch. */
export const publishThrottles = sql`
  insert into throttle_state (api, epoch, state)
  select api, epoch + 1, state
    from unnest($1::text[], $2::bigint[], $3::text[]) as word (api, epoch, state)
   order by api
  on conflict (api) do update
     set epoch = excluded.epoch, state = excluded.state, made_at = clock_timestamp()
   where throttle_state.epoch = excluded.epoch - 1`;

export const selectThrottles = sql`
  select api, epoch, ${agoOf('made_at')} as age_ms, state, ${pinned} as pinned,
         case when ${pinned} is not null then pinned_by end as pinned_by,
         case when ${pinned} is not null then ${msOf('pinned_until')} end as pinned_until
    from throttle_state order by api`;

/** $1 API. Whoever decides of it next waits. */
export const lockThrottle = sql`
  select ${pinned} is not null as is_pinned, state is not null as is_known
    from throttle_state where api = $1 for update`;

/** $1 API, $2 permits, $3 who, $4 for so many ms, or null. */
export const pinThrottle = sql`
  insert into throttle_state (api, pinned, pinned_by, pinned_until)
  values ($1, $2, $3, clock_timestamp() + ${spanOf('$4::float8')})
  on conflict (api) do update
     set pinned = excluded.pinned, pinned_by = excluded.pinned_by, pinned_until = excluded.pinned_until
  returning api`;

/** $1 API. */
export const unpinThrottle = sql`
  update throttle_state set pinned = null, pinned_by = null, pinned_until = null
   where api = $1 and pinned is not null returning api`;

/** $1 API. Whoever leads finds an epoch that is not its own, and begins anew. */
export const resetThrottle = sql`
  update throttle_state set epoch = epoch + 1, state = null, made_at = clock_timestamp()
   where api = $1 returning api`;

/** $1 age in ms. */
export const deleteThrottles = sql`
  delete from throttle_state
   where ${pinned} is null and made_at < clock_timestamp() - ${spanOf('$1::float8')}`;
