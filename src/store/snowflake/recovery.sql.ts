/** What is read to sweep, to give up, and to remove. */
import { TASK_ID_PATTERN } from '../reasons.ts';
import type { Taking } from '../taking.ts';
import { AUDIT_LOG, POD_HEALTH, STEP_TRACKER } from './columns.ts';
import { BOUND_TEXTS, FLATTENED, NOW, selectFrom } from './sql.ts';

const ENDED = `t.status in ('completed', 'failed', 'cancelled')`;

/** ? pod, and ? tasks where it is asked for some: what it holds, in the order of ids. */
export function selectHeldBy(only: Taking['only'], limit: number): string {
  const which =
    only === 'paused'
      ? ` and t.control = 'pause'`
      : only === 'free'
        ? ' and t.pinned_to is null'
        : only
          ? ` and t.task_id in (${BOUND_TEXTS})`
          : '';
  return `${selectFrom(STEP_TRACKER)} where t.claimed_by = ?${which} order by t.task_id limit ${limit}`;
}

/** ? known machines: whatever may be hopeless; which of it is, is for the rules to say. */
export function selectDoubtful(limit: number): string {
  return `${selectFrom(STEP_TRACKER, { isLight: true })}
  left join (select f.value::varchar as machine from ${FLATTENED}) k on k.machine = t.machine
  where t.status in ('pending', 'waiting')
    and (not regexp_like(t.task_id, '${TASK_ID_PATTERN}') or t.deadline_at < ${NOW}
      or k.machine is null)
  order by t.task_id limit ${limit}`;
}

/** Keys that have outlived their tasks. */
export function selectStaleKeys(limit: number): string {
  return `${selectFrom(STEP_TRACKER, { isLight: true })}
  where t.task_key is not null and ${ENDED} and coalesce(t.key_until, ${NOW}) < ${NOW}
  order by t.key_until, t.task_id limit ${limit}`;
}

/** ? ms: ended longer ago than this; nobody's parent, and no key stands for it. */
export function selectOld(limit: number): string {
  return `${selectFrom(STEP_TRACKER, { isLight: true })}
  where ${ENDED} and t.finished_at < ${NOW} - ? and t.task_key is null
    and not exists (select 1 from step_tracker c where c.parent_id = t.task_id)
  order by t.finished_at, t.task_id limit ${limit}`;
}

/** ? ms. */
export const selectDown = `${selectFrom(POD_HEALTH)}
  where t.status = 'down' and t.dead_at < ${NOW} - ?`;

/** ? ms. */
export function selectOldAudits(limit: number): string {
  return `${selectFrom(AUDIT_LOG)} where t.noted_at < ${NOW} - ?
  order by t.noted_at, t.request_id limit ${limit}`;
}
