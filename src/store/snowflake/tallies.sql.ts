/** Counts. On hybrid tables each is a scan: leaders ask seldom, and people when they look. */
import { SUSPECT_CRASHES } from '../words.ts';
import { BOUND_TEXTS, sql } from './sql.ts';

const IS_CLAIMABLE = `t.status in ('pending', 'waiting') and t.paused = false and t.pinned_to is null
    and (t.wait_for is null or t.wait_for <> 'turn')`;

const COUNT_BY_ROUTE = `
  select t.machine, t.version, t.status, count(*) as n,
         sum(case when t.status <> 'claimed' and t.pinned_to is not null then 1 else 0 end) as pinned,
         sum(case when t.status <> 'claimed' and t.pinned_to is null and t.wait_for = 'version'
             then 1 else 0 end) as shelved,
         sum(case when t.status <> 'claimed' and t.pinned_to is null
               and (t.wait_for is null or t.wait_for <> 'version') and t.crashes >= ${SUSPECT_CRASHES}
             then 1 else 0 end) as suspect
    from step_tracker t`;

export const countOpen = `${COUNT_BY_ROUTE}
   where t.status in ('pending', 'waiting', 'claimed') group by t.machine, t.version, t.status`;

/** ? routes. */
export const countClaimable = `${COUNT_BY_ROUTE}
   where ${IS_CLAIMABLE} and t.machine || '@' || t.version in (${BOUND_TEXTS})
   group by t.machine, t.version, t.status`;

export const countQueues = sql`
  select t.queue, t.status, count(*) as n,
         sum(case when t.pinned_to is null then 1 else 0 end) as unpinned,
         min(t.run_at) as first_at
    from step_tracker t where t.status in ('pending', 'waiting', 'claimed')
   group by t.queue, t.status`;

export const censusOpen = `
  select t.machine || '@' || t.version as route, t.status, t.wait_for,
         case when t.crashes >= ${SUSPECT_CRASHES} then 1 else 0 end as suspect,
         count(*) as n, min(t.run_at) as first_at
    from step_tracker t where ${IS_CLAIMABLE}
   group by t.machine || '@' || t.version, t.status, t.wait_for,
         case when t.crashes >= ${SUSPECT_CRASHES} then 1 else 0 end`;

export const censusHeld = sql`
  select t.machine, t.claimed_by, count(*) as n, min(t.last_update) as updated_at
    from step_tracker t where t.status = 'claimed' group by t.machine, t.claimed_by`;

export const censusFailed = sql`
  select t.machine, count(*) as n
    from step_tracker t where t.status = 'failed' and t.discarded_at is null group by t.machine`;
