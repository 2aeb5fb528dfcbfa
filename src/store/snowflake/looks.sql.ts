/** What is read for people: lists, and what has changed. */
import { AUDIT_LOG, STEP_TRACKER } from './columns.ts';
import { selectFrom, sql } from './sql.ts';

/** ? id. */
export const selectPlace = sql`select t.created_at from step_tracker t where t.task_id = ?`;

/**
 * ? status twice, ? machine twice, ? pod twice, each empty where nothing is said; ? 1: only what has not
 * ended; ? 1: only dead letters; ? id, ? created, ? created, ? id: only what is older, unless it is empty.
 */
export function selectList(limit: number): string {
  return `${selectFrom(STEP_TRACKER)}
  where (? = '' or t.status = ?) and (? = '' or t.machine = ?) and (? = '' or t.claimed_by = ?)
    and (? = 0 or t.status in ('pending', 'waiting', 'claimed'))
    and (? = 0 or (t.status = 'failed' and t.discarded_at is null))
    and (? = '' or t.created_at < ? or (t.created_at = ? and t.task_id < ?))
  order by t.created_at desc, t.task_id desc limit ${limit}`;
}

/** ? since, three times. */
export function selectChanged(limit: number): string {
  return `${selectFrom(STEP_TRACKER, { isLight: true })}
  where (t.claimed_by is not null and t.last_update >= ?) or t.finished_at >= ?
    or (t.finished_at is null and t.claimed_by is null and t.created_at >= ?)
  order by t.task_id limit ${limit}`;
}

/** ? since: what people have changed. */
export function selectAudited(limit: number): string {
  return `${selectFrom(AUDIT_LOG)} where t.noted_at >= ? and t.task_id is not null
  order by t.noted_at desc, t.request_id limit ${limit}`;
}
