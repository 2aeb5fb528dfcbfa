/**
 * Statements of readers. Lists of all tasks are walked by the index on (created_at, task_id), lists of
 * some statuses by that on (status || '', created_at, task_id), one branch for each status, merged as they
 * come: so a page costs what it shows, and a slice what it looks at, whatever is in the table.
 */
import type { Position } from '../reading/cursor.ts';
import { type Question, STATUSES } from '../reading/question.ts';
import { ERROR_CHARACTERS_MAX } from '../reading/searching.ts';
import type { Parts, Reach } from '../reading/source.ts';
import { Binds, fitsOf } from './conditions.sql.ts';
import type { Values } from './session.ts';

export const selectLiveRoutes = `
  select distinct route.value as route from pod_health as pod, json_each(pod.routes) as route
   where pod.status = 'up'`;

const glance = `
  task.task_id, task.generation, task.machine, task.version, task.queue, task.priority, task.run_at,
  task.status, task.wait_for, task.claim_epoch, task.acts, task.claimed_by, task.retry_count,
  task.retries_max,
  task.crashes, task.claims, task.control, task.paused, task.key, task.serial_key,
  task.follows, task.follows_on, task.serial_held, task.pinned_to, task.deadline_at,
  task.outcome, substr(task.error, 1, ${ERROR_CHARACTERS_MAX}) as error, task.last_seq,
  task.last_hash, task.carry_from, task.interrupted, task.created_at, task.last_update,
  task.finished_at, task.discarded_at`;

export interface Asked {
  readonly text: string;
  readonly values: Values;
}

type Bind = Binds['bind'];

/** One upper bound at a time: of two, SQLite would begin its walk at either. */
function within({ from, until }: Question, after: Position | undefined, bind: Bind): string {
  const since = `task.created_at >= ${bind(from)}`;
  if (!after) return `${since} and task.created_at < ${bind(until)}`;
  const at = bind(Number(after.at));
  return `${since} and task.created_at <= ${at}
         and (task.created_at < ${at} or task.task_id < ${bind(after.id)})`;
}

/** The next rows of the list, each with whether it fits. */
function looked({ question, after, rowsMax }: Reach, bind: Bind): string {
  const fits = fitsOf(question, bind);
  const reach = within(question, after, bind);
  const branch = (index: string, condition: string) => `
    select task.created_at, task.task_id, task.status, (${fits}) as fits
      from step_tracker as task indexed by ${index}
     where ${condition} ${reach}`;
  const isAll = question.statuses.length === STATUSES.length;
  const branches = isAll
    ? [branch('step_tracker_newest', '')]
    : question.statuses.map((status) =>
        branch('step_tracker_by_status', `task.status || '' = '${status}' and`),
      );
  return `${branches.join(' union all ')}
     order by 1 desc, 2 desc limit ${bind(rowsMax)}`;
}

/** Rows that fit; and at the end the last that was looked at, with how many those were. */
export function selectSlice(reach: Reach, foundMax: number): Asked {
  const { values, bind } = new Binds();
  const text = `
  with looked as materialized (select * from (${looked(reach, bind)}))
  select null as looked, ${glance}
    from (select task_id from looked where fits
           order by created_at desc, task_id desc limit ${bind(foundMax)}) as told
    cross join step_tracker as task on task.task_id = told.task_id
   union all
  select (select count(*) from looked), ${glance}
    from (select task_id from looked order by created_at, task_id limit 1) as last
    cross join step_tracker as task on task.task_id = last.task_id`;
  return { text, values };
}

/** How many fit by part and status; and of the last row that was looked at where it is. */
export function selectTally(reach: Reach, parts: Parts): Asked {
  const { values, bind } = new Binds();
  const rows = looked(reach, bind);
  const part = `cast((created_at - ${bind(parts.fromMs)}) / ${bind(parts.widthMs)} as integer)`;
  const text = `
  with looked as materialized (select * from (${rows}))
  select ${part} as part, status, count(*) as count, null as task_id, null as created_at
    from looked where fits group by part, status
   union all
  select null, null, (select count(*) from looked), task_id, created_at
    from (select * from looked order by created_at, task_id limit 1)`;
  return { text, values };
}

/** Of these tasks, which are few, those that fit. */
export function selectAmong(
  ids: readonly string[],
  { question, after }: Omit<Reach, 'rowsMax'>,
  foundMax: number,
): Asked {
  const { values, bind } = new Binds();
  // The plus keeps the other indexes out of it: they would be walked for want of a sort.
  const text = `
  select ${glance} from json_each(${bind(ids)}) as few
    cross join step_tracker as task on task.task_id = few.value
   where task.status in (select value from json_each(${bind(question.statuses)}))
     and ${within(question, after, bind)} and ${fitsOf(question, bind)}
   order by +task.created_at desc, +task.task_id desc limit ${bind(foundMax)}`;
  return { text, values };
}

/** @words, @spans: where texts of a beginning begin and end; @count. */
function gatherBy(column: 'task_id' | 'claimed_by'): string {
  return `
  select task_id from (
    select task.task_id from json_each(@words) as word
     cross join step_tracker as task on task.${column} = word.value
    union all
    select task.task_id from json_each(@spans) as span
     cross join step_tracker as task
        on task.${column} >= json_extract(span.value, '$[0]')
       and task.${column} < json_extract(span.value, '$[1]'))
   limit @count`;
}
export const gatherIds = gatherBy('task_id');
export const gatherHeld = gatherBy('claimed_by');

/** @count. Machines that have keys, by hops over the index of keys. */
export const selectKeyMachines = `
  with recursive hop (machine) as (
    select min(machine) from step_tracker where key is not null
    union all
    select (select min(task.machine) from step_tracker as task
             where task.key is not null and task.machine > hop.machine)
      from hop where machine is not null)
  select machine from hop where machine is not null limit @count`;

/** @machines, @keys, @count. */
export const gatherKeys = `
  select task.task_id from json_each(@machines) as machine
   cross join json_each(@keys) as key
   cross join step_tracker as task on task.machine = machine.value and task.key = key.value
   limit @count`;

/**
 * @task, @who, @what, each or null; @at and @id before, @rows to look at, @count to find. The last row
 * comes at the end, with how many were looked at.
 */
function auditBy(condition: string): string {
  return `
  with looked as materialized (
    select id, at, who, what, task_id from audit_log
     where ${condition} and (at, id) < (@at, @id) order by at desc, id desc limit @rows),
  told as (
    select id from looked where (@who is null or who = @who) and (@what is null or what = @what)
     order by at desc, id desc limit @count)
  select null as looked, audit_log.* from told cross join audit_log using (id)
   union all
  select (select count(*) from looked), audit_log.*
    from (select id from looked order by at, id limit 1) cross join audit_log using (id)`;
}
export const selectAudit = auditBy('@task is null');
export const selectAuditOfTask = auditBy('task_id = @task');
