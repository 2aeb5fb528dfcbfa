/** What is ready to be claimed. */
import { SUSPECT_CRASHES } from '../words.ts';
import { STEP_TRACKER } from './columns.ts';
import { BOUND_TEXTS, NOW, selectFrom } from './sql.ts';

const IS_OPEN = `t.status in ('pending', 'waiting') and t.paused = false
    and (t.wait_for is null or t.wait_for <> 'turn') and t.run_at <= ${NOW}`;

/** What people let stand still. */
const STANDSTILLS = `
  left join fleet_fact q on q.kind = 'queue' and q.fact_id = t.queue
  left join fleet_fact m on m.kind = 'machine' and m.fact_id = t.machine`;

/** A local run is its host's affair, and stands still for nobody. */
const IS_FLOWING = '(t.pinned_to is not null or (q.kind is null and m.kind is null))';

/**
 * ? 1 for suspects, ? journal, ? routes, ? pod. The most urgent of what this pod may claim; nothing where
 * it is not up. What was read may be claimed by another before it is written: then its `rev` is another.
 */
export function selectReady(limit: number): string {
  return `${selectFrom(STEP_TRACKER)}${STANDSTILLS}
  where ${IS_OPEN} and case when t.crashes >= ${SUSPECT_CRASHES} then 1 else 0 end = ?
    and (t.pinned_to is null or t.pinned_to = ?)
    and t.machine || '@' || t.version in (${BOUND_TEXTS})
    and exists (select 1 from pod_health p where p.pod_id = ? and p.status = 'up')
    and ${IS_FLOWING}
  order by t.priority desc, t.run_at, t.task_id limit ${limit}`;
}

/** ? crashes, ? routes. */
export const selectSuspect = `${selectFrom(STEP_TRACKER, { isLight: true })}
  where ${IS_OPEN} and t.crashes >= ? and t.machine || '@' || t.version in (${BOUND_TEXTS})
  order by t.task_id limit 1`;
