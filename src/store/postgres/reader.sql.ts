/**
 * Statements of readers. Lists are walked by the index on (status, created_at, task_id), one branch
 * for each status that may fit, merged as they come: so a page costs what it shows, and a slice what
 * it looks at, whatever is in the table.
 */
import type { Position } from '../reading/cursor.ts';
import type { Question } from '../reading/question.ts';
import { ERROR_CHARACTERS_MAX } from '../reading/searching.ts';
import type { Parts, Reach } from '../reading/source.ts';
import { Binds, fitsOf, instant } from './conditions.sql.ts';
import { byIndexes, msOf, sql } from './sql.ts';

/** For the one transaction of a question: it may not write, and it goes by indexes. */
export const readOnly = sql`set local transaction_read_only = on; ${byIndexes}`;

export const selectNow = sql`select ${msOf('clock_timestamp()')} as now_ms`;

export const selectLiveRoutes = sql`
  select distinct route from pod_health, unnest(routes) as route where status = 'up'`;

/** To the microsecond, and the same whatever the server's settings are. */
function positionOf(timestamp: string): string {
  return sql`to_char(${timestamp} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`;
}

const glance = sql`
  task.task_id, task.generation, task.machine, task.version, task.queue, task.priority,
  ${msOf('task.run_at')} as run_at, task.status, task.wait_for, task.claim_epoch, task.acts, task.claimed_by,
  task.retry_count, task.retries_max, task.crashes, task.claims, task.control, task.paused, task.key,
  task.serial_key, task.serial_held, task.follows, task.follows_on, task.pinned_to,
  ${msOf('task.deadline_at')} as deadline_at, task.outcome,
  left(task.error, ${ERROR_CHARACTERS_MAX}) as error, task.last_seq, task.last_hash, task.carry_from,
  task.interrupted, ${msOf('task.created_at')} as created_at,
  ${msOf('task.last_update')} as last_update, ${msOf('task.finished_at')} as finished_at,
  ${msOf('task.discarded_at')} as discarded_at, ${positionOf('task.created_at')} as position`;

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

type Bind = Binds['bind'];

/** One upper bound at a time: of two, a server may begin its walk at the farther one. */
function within({ from, until }: Question, after: Position | undefined, bind: Bind): string {
  const since = sql`task.created_at >= ${instant(bind, from)}`;
  if (!after) return sql`${since} and task.created_at < ${instant(bind, until)}`;
  const at = sql`${bind(after.at)}::timestamp at time zone 'UTC'`;
  return sql`${since} and task.created_at <= ${at}
         and (task.created_at, task.task_id) < (${at}, ${bind(after.id)}::text)`;
}

/** The next rows of the list, each with whether it fits. */
function looked({ question, after, rowsMax }: Reach, columns: string, bind: Bind): string {
  const fits = fitsOf(question, bind);
  const reach = within(question, after, bind);
  const rows = bind(rowsMax);
  const branches = question.statuses.map(
    (status) => sql`
    (select ${columns}, (${fits}) as fits
       from step_tracker task
      where task.status = '${status}' and ${reach}
      order by task.created_at desc, task.task_id desc limit ${rows}::int)`,
  );
  return sql`
    select * from (${branches.join(' union all ')}) row
     order by created_at desc, task_id desc limit ${rows}::int`;
}

/** Rows that fit, and the last that was looked at, which tells by its place where the slice ended. */
export function selectSlice(reach: Reach, foundMax: number): Statement {
  const { values, bind } = new Binds();
  const rows = looked(reach, 'task.task_id, task.created_at', bind);
  const text = sql`
  with looked as materialized (
    select *, row_number() over (order by created_at desc, task_id desc) as place from (${rows}) row),
  told as materialized (
    select * from looked where fits or place = (select max(place) from looked)
     order by place limit ${bind(foundMax)}::int)
  select told.fits, told.place, ${glance}
    from told join step_tracker task using (task_id)
   order by told.place`;
  return { text, values };
}

/** How many fit by part and status; and of the last row that was looked at where it is. */
export function selectTally(reach: Reach, parts: Parts): Statement {
  const { values, bind } = new Binds();
  const rows = looked(reach, 'task.task_id, task.created_at, task.status', bind);
  const part = sql`floor((${msOf('created_at')} - ${bind(parts.fromMs)}::float8)
                         / ${bind(parts.widthMs)}::float8)`;
  const text = sql`
  with looked as materialized (${rows})
  select part, status, count(*) as count, null as position, null as task_id, null as created_at
    from (select ${part} as part, status from looked where fits) fitting
   group by part, status
   union all
  select null, null, (select count(*) from looked), ${positionOf('created_at')}, task_id,
         ${msOf('created_at')}
    from (select * from looked order by created_at, task_id limit 1) last`;
  return { text, values };
}

/** Of these tasks, which are few, those that fit. */
export function selectAmong(
  ids: readonly string[],
  { question, after }: Omit<Reach, 'rowsMax'>,
  foundMax: number,
): Statement {
  const { values, bind } = new Binds();
  const text = sql`
  with few as materialized (select * from step_tracker where task_id = any (${bind(ids)}::text[]))
  select ${glance} from few task
   where task.status = any (${bind(question.statuses)}::text[])
     and ${within(question, after, bind)} and ${fitsOf(question, bind)}
   order by task.created_at desc, task.task_id desc limit ${bind(foundMax)}::int`;
  return { text, values };
}

/** $1 words, $2 and $3 where texts of a beginning begin and end, $4 count. */
function gatherBy(column: 'task_id' | 'claimed_by'): string {
  return sql`
  (select task_id from step_tracker where ${column} = any ($1::text[]) limit $4::int)
   union all
  (select found.task_id from unnest($2::text[], $3::text[]) as span (low, high)
    cross join lateral (
      select task_id from step_tracker
       where ${column} >= low collate "C" and ${column} < high collate "C"
       order by ${column} limit $4::int) found
    limit $4::int)
   limit $4::int`;
}
export const gatherIds = gatherBy('task_id');
export const gatherHeld = gatherBy('claimed_by');

/** $1 count. Machines that have keys, by hops over the index of keys. */
export const selectKeyMachines = sql`
  with recursive hop (machine) as (
    (select machine from step_tracker where key is not null order by machine limit 1)
    union all
    select (select task.machine from step_tracker task
             where task.key is not null and task.machine > hop.machine
             order by task.machine limit 1)
      from hop where hop.machine is not null)
  select machine from hop where machine is not null limit $1::int`;

/** $1 machines, $2 keys, $3 count. */
export const gatherKeys = sql`
  select task_id from step_tracker
   where key is not null and machine = any ($1::text[]) and key = any ($2::text[]) limit $3::int`;

const audited = sql`
  id, ${msOf('at')} as at_ms, ${positionOf('at')} as position, who, what, task_id, detail`;

/**
 * $1 who, $2 what, each or null; $3 and $4 before, $5 rows to look at, $6 rows to find; $7 task. The
 * last row that was looked at tells by its place where the slice ended.
 */
function auditBy(condition: string): string {
  return sql`
  with looked as materialized (
    select *, row_number() over (order by at desc, id desc) as place from (
      select id, at, who, what from audit_log
       where ${condition} and (at, id) < ($3::timestamp at time zone 'UTC', $4::text)
       order by at desc, id desc limit $5::int) row),
  told as materialized (
    select id, place,
           ($1::text is null or who = $1) and ($2::text is null or what = $2) as fits
      from looked),
  shown as materialized (
    select * from told where fits or place = (select max(place) from told)
     order by place limit $6::int)
  select shown.fits, shown.place, ${audited}
    from shown join audit_log using (id) order by shown.place`;
}
export const selectAudit = auditBy('$7::text is null');
export const selectAuditOfTask = auditBy('task_id = $7::text');
