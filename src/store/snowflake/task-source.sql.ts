/** Slices of lists, newest first. */
import { AUDIT_LOG, STEP_TRACKER } from './columns.ts';
import { BOUND_TEXTS, selectFrom } from './sql.ts';

/** ? statuses, ? from, ? until, ? 1 where a place follows, ? created, ? created, ? id. */
export function selectTasks(limit: number): string {
  return `${selectFrom(STEP_TRACKER, { isLight: true })}
  where t.status in (${BOUND_TEXTS}) and t.created_at >= ? and t.created_at < ?
    and (? = 0 or t.created_at < ? or (t.created_at = ? and t.task_id < ?))
  order by t.created_at desc, t.task_id desc limit ${limit}`;
}

/** ? task twice, empty for all; ? 1 where a place follows, ? at, ? at, ? id. */
export function selectAudit(limit: number): string {
  return `${selectFrom(AUDIT_LOG)}
  where (? = '' or t.task_id = ?)
    and (? = 0 or t.noted_at < ? or (t.noted_at = ? and t.request_id < ?))
  order by t.noted_at desc, t.request_id desc limit ${limit}`;
}
