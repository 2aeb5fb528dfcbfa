/** What is read about pods, and about what they hold. */
import { SUSPECT_CRASHES } from '../words.ts';
import { POD_HEALTH, STEP_TRACKER } from './columns.ts';
import { BOUND_TEXTS, LIST_MAX, NOW, selectFrom, sql } from './sql.ts';

/** ? pod, ? journal: this life and all others of its journal. */
export const selectLives = `${selectFrom(POD_HEALTH)} where t.pod_id = ? or t.journal_id = ?`;

/** ? pod: everyone who is not down, and oneself in any case. */
export const selectFleet = `${selectFrom(POD_HEALTH)} where t.status <> 'down' or t.pod_id = ?`;

/** ? pod: what it holds, with what is asked of it. */
export const selectAsked = sql`
  select t.task_id, t.generation, t.claim_epoch, t.claimed_by, t.control, t.control_reason, t.rev
    from step_tracker t where t.claimed_by = ?`;

/** Who holds what. */
export const selectClaims = sql`
  select t.task_id, t.claimed_by, t.rev from step_tracker t where t.status = 'claimed'`;

/** One task of each owner. */
export const selectOwners = sql`
  select min(t.task_id) as task_id, t.claimed_by, 'claimed' as status, '' as rev
    from step_tracker t where t.status = 'claimed' group by t.claimed_by`;

/** ? pod. */
export const selectOneHeld = sql`
  select t.task_id, t.claimed_by, t.rev from step_tracker t
   where t.claimed_by = ? order by t.task_id limit 1`;

/** ? routes, ? ms: tasks that wait for one of these routes, or for its key, and look again within so long. */
export const selectBlocked = `${selectFrom(STEP_TRACKER, { isLight: true })}
  where t.status = 'waiting' and t.wait_for in ('version', 'key') and t.paused = false
    and t.pinned_to is null and t.crashes < ${SUSPECT_CRASHES}
    and t.machine || '@' || t.version in (${BOUND_TEXTS})
    and t.run_at > ${NOW} and t.run_at <= ${NOW} + ?
  order by t.task_id limit ${LIST_MAX}`;
