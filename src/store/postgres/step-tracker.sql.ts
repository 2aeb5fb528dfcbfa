/** Statements on step_tracker by which tasks come in, and are looked at. */
import { ended, glanceColumns, sql } from './sql.ts';

const latest = sql`timestamptz '9999-12-31 00:00:00+00'`;

/** $1 machines, $2 keys. Frees those whose time is over, so that they can be given again. */
export const freeKeys = sql`
  update step_tracker task set key = null, key_until = null
    from (select task_id from step_tracker
            join (select distinct machine, key
                    from unnest($1::text[], $2::text[]) as given (machine, key)) asked
           using (machine, key)
           where key is not null and status in ${ended} and key_until < now()
           order by task_id for update of step_tracker) expired
   where task.task_id = expired.task_id`;

/** What is said of a new task, in the order in which it is bound, and of which type it is. */
const GIVEN = [
  ['task_id', 'text'],
  ['machine', 'text'],
  ['version', 'int'],
  ['queue', 'text'],
  ['priority', 'int'],
  ['after_ms', 'float8'],
  ['at_ms', 'float8'],
  ['payload', 'text'],
  ['key', 'text'],
  ['key_ms', 'bigint'],
  ['retries_max', 'int'],
  ['deadline_ms', 'float8'],
  ['trace_parent', 'text'],
  ['serial_key', 'text'],
  ['follows', 'text'],
  ['follows_on', 'text'],
] as const;

/** Those of `isList` are lists, one for each task; the others hold for all of them. */
function givenTasks(isList: (index: number) => boolean): string {
  const places = GIVEN.map(([name, type], index) => ({ name, type, at: `$${index + 1}::${type}` }));
  const lists = places.filter((_, index) => isList(index));
  const words = places.map(({ name, at }, index) => (isList(index) ? name : `${at} as ${name}`));
  const all = sql`select ${words.join(', ')}`;
  if (lists.length === 0) return all;
  const names = lists.map(({ name }) => name).join(', ');
  return sql`${all} from unnest(${lists.map(({ at }) => `${at}[]`).join(', ')}) as list (${names})`;
}

/**
 * What is due later waits for the time, outside the head of the queue; what has a serial key, for its
 * turn; what follows a run, for that.
 */
const insertGiven = sql`
  insert into step_tracker
    (task_id, machine, version, queue, priority, run_at, status, wait_for, payload, key, key_ms,
     retries_max, deadline_at, put_off_ms, trace_parent, serial_key, follows, follows_on)
  select task_id, machine, version, queue, priority, due,
         case when serial_key is not null or due > now() then 'waiting' else 'pending' end,
         case when follows is not null then 'run'
              when serial_key is not null then 'turn' when due > now() then 'time' end,
         payload, key, key_ms, retries_max,
         case when deadline_ms is not null
           then least(greatest(now(), due) + deadline_ms * interval '1 millisecond', ${latest}) end,
         case when deadline_ms is not null and due > now()
           then floor(extract(epoch from due - now()) * 1000) else 0 end,
         trace_parent, serial_key, follows, follows_on
    from given,
         lateral (select coalesce(to_timestamp(at_ms / 1000),
                                  now() + after_ms * interval '1 millisecond') as due) when_due`;

/** Whatever is not there yet, of lists as GIVEN has them. */
export const enqueueTasks = sql`
  with given as (${givenTasks(() => true)})
  ${insertGiven}
  on conflict do nothing
  returning task_id, status`;

/** One at a time, by the index of keys: joined, a crowd would be read from its beginning to its end. */
const noneHasKey = sql`
   where not exists (
     select 1 from given cross join lateral (
       select 1 from step_tracker standing
        where standing.machine = given.machine and standing.key = given.key limit 1) taken)`;

/**
 * All of them, or none where a key is in use; fails where an id is. Without looking for what is there
 * row by row, as `on conflict` does. Answers how many, and which of them wait.
 */
export function enqueueNewTasks(isList: (index: number) => boolean, isKeyed: boolean): string {
  return sql`
  with given as not materialized (${givenTasks(isList)}),
  made as (${insertGiven} ${isKeyed ? noneHasKey : ''} returning task_id, status)
  select count(*)::int as count,
         array_agg(task_id) filter (where status <> 'pending') as waiting from made`;
}

/** $1 ids. */
export const selectStandingById = sql`
  select task_id, status, payload from step_tracker where task_id = any ($1::text[])`;

/** $1 machines, $2 keys. */
export const selectStandingByKey = sql`
  select task_id, machine, key, status, payload
    from unnest($1::text[], $2::text[]) as asked (machine, key)
    join step_tracker using (machine, key)
   where key is not null`;

export const columns = sql`${glanceColumns}, payload, result`;

/** $1 ids. */
export const selectTasks = sql`
  select ${columns} from step_tracker where task_id = any ($1::text[])`;

/**
 * $1 status, $2 machine, $3 owner, $4 before id, each or null; $5 count, $6 only those that have not
 * ended. Newest first.
 */
export const listTasks = sql`
  select ${columns} from step_tracker
   where ($1::text is null or status = $1) and ($2::text is null or machine = $2)
     and ($3::text is null or claimed_by = $3) and ($4::text is null or task_id < $4)
     and (not $6::bool or finished_at is null)
   order by task_id desc limit $5`;

/** The same, of what failed and nobody has discarded: written as its index is. */
export const listDeadLetters = sql`
  select ${columns} from step_tracker
   where status = 'failed' and discarded_at is null
     and ($1::text is null or status = $1) and ($2::text is null or machine = $2)
     and ($3::text is null or claimed_by = $3) and ($4::text is null or task_id < $4)
     and (not $6::bool or finished_at is null)
   order by task_id desc limit $5`;

/** What has not ended, by route. */
export const tallies = sql`
  route, machine, version,
  (count(*) filter (where status = 'pending'))::int as pending,
  (count(*) filter (where status = 'waiting'))::int as waiting,
  (count(*) filter (where status = 'claimed'))::int as claimed,
  (count(*) filter (where status <> 'claimed' and pinned_to is not null))::int as pinned,
  (count(*) filter (where status <> 'claimed' and pinned_to is null
                      and wait_for = 'version'))::int as shelved,
  (count(*) filter (where status <> 'claimed' and pinned_to is null
                      and wait_for is distinct from 'version' and crashes >= 2))::int as suspect`;
const byRoute = sql`group by route, machine, version order by route collate "C"`;
export const countInFlight = sql`
  select ${tallies} from step_tracker
   where status in ('pending', 'waiting', 'claimed') ${byRoute}`;
