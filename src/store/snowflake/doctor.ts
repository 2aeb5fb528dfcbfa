/** Finds rows that break a rule of the tables; which rule, the rules themselves say. */
import { violations as violationsRule } from '../memory/rules.ts';
import type { Violation } from '../tasks.ts';
import type { Calls } from './calls.ts';
import { STEP_TRACKER } from './columns.ts';
import type { Row } from './executor.ts';
import { gather, gatherHistory, gatherPods } from './gather.ts';
import { LIST_MAX, selectFrom, sql } from './sql.ts';

const ENDED = `t.status in ('completed', 'failed', 'cancelled')`;

const selectSuspects = `${selectFrom(STEP_TRACKER, { isLight: true })}
  left join pod_health p on p.pod_id = t.claimed_by and p.status in ('up', 'draining', 'dead')
  left join run_events e on e.task_id = t.task_id and e.generation = t.generation
    and e.first_seq <= t.last_seq and e.last_seq >= t.last_seq
  left join step_tracker o on o.machine = t.machine and o.task_key = t.task_key
    and o.task_id <> t.task_id
  where (t.status = 'claimed') <> (t.claimed_by is not null)
    or (t.status = 'claimed' and t.claim_epoch < 1)
    or (t.claimed_by is not null and p.pod_id is null)
    or (not ${ENDED} and (t.version < 1
      or (substr(t.machine, 1, 9) = 'recovery/' and t.pinned_to is null)))
    or (${ENDED}) <> (t.finished_at is not null)
    or (t.status = 'waiting') <> (t.wait_for is not null)
    or (t.status = 'failed' and t.error is null)
    or (t.discarded_at is not null and t.status <> 'failed')
    or ((t.status = 'waiting' or ${ENDED}) and t.last_seq >= 0 and e.task_id is null)
    or o.task_id is not null
  order by t.task_id limit ${LIST_MAX}`;

/** Where the account does not keep keys, nothing but our own statements does. */
const selectDoubles = sql`
  select t.task_id from step_tracker t group by t.task_id having count(*) > 1
   order by t.task_id limit 64`;

export function violations(calls: Calls): Promise<Violation[]> {
  let doubles: readonly Row[] = [];
  return calls.look(
    async (reading) => {
      const { tables } = reading.desk;
      await gather(reading, STEP_TRACKER, selectSuspects, []);
      await gatherHistory(reading, [...tables.tasks.keys()], true);
      const owners = [...tables.tasks.values()].flatMap(({ claimedBy }) => claimedBy ?? []);
      await gatherPods(reading, owners);
      if (!calls.isHybrid) doubles = (await reading.run(selectDoubles)).rows;
    },
    (tables) => [...violationsRule(tables), ...doublesOf(doubles)],
  );
}

function doublesOf(rows: readonly Row[]): Violation[] {
  if (rows.length === 0) return [];
  const examples = rows.slice(0, 5).map((row) => String(row['task_id']));
  return [{ rule: 'a task has one row', count: rows.length, examples }];
}
