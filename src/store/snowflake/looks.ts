/** Tasks as people and live views see them. */
import type { RunId } from '../../ground/index.ts';
import { find as findRule } from '../memory/changes.ts';
import { taskRowOf } from '../memory/rows.ts';
import type { TaskRecord } from '../memory/tables.ts';
import { watch as watchRule } from '../memory/watch.ts';
import type { TaskFilter, TaskRow } from '../tasks.ts';
import type { Watch, WatchQuery } from '../watch.ts';
import type { Calls } from './calls.ts';
import { AUDIT_LOG, recordOf, STEP_TRACKER } from './columns.ts';
import { gather, gatherHistory, gatherTasks } from './gather.ts';
import * as statements from './looks.sql.ts';
import { limitOf } from './sql.ts';

export function find(calls: Calls, ids: readonly RunId[]): Promise<TaskRow[]> {
  return calls.look(
    (reading) => gatherTasks(reading, ids),
    (tables) => findRule(tables, ids),
  );
}

export function list(calls: Calls, filter: TaskFilter): Promise<TaskRow[]> {
  const { status = '', machine = '', claimedBy = '', before, countMax } = filter;
  return calls.sessions.use(async ({ run }) => {
    let place = { at: 0, id: '' };
    if (before !== undefined) {
      const [row] = (await run(statements.selectPlace, [before])).rows;
      if (!row) return [];
      place = { at: Number(row['created_at']), id: before };
    }
    const { rows } = await run(statements.selectList(limitOf(countMax)), [
      ...[status, status, machine, machine, claimedBy, claimedBy],
      ...[filter.isInFlight ? 1 : 0, filter.isDeadLetter ? 1 : 0],
      ...[place.id, place.at, place.at, place.id],
    ]);
    return rows.slice(0, countMax).map((row) => taskRowOf(recordOf<TaskRecord>(STEP_TRACKER, row)));
  });
}

/** More changes since the last look than these are not told of in one answer. */
const CHANGES_MAX = 1_024;

export function watch(calls: Calls, query: WatchQuery): Promise<Watch> {
  const { followed, others, sinceMs, countMax } = query;
  return calls.look(
    async (reading) => {
      const { desk } = reading;
      await gatherTasks(reading, [...followed, ...others]);
      await gatherHistory(reading, followed, true);
      if (sinceMs === undefined) return;
      const limit = limitOf(Math.min(countMax + 1 + followed.length, CHANGES_MAX));
      const since = [sinceMs, sinceMs, sinceMs];
      await gather(reading, STEP_TRACKER, statements.selectChanged(limit), since);
      await gather(reading, AUDIT_LOG, statements.selectAudited(limit), [sinceMs]);
      const ids = [...desk.tables.audit.values()].flatMap(({ taskId }) => taskId ?? []);
      await gatherTasks(reading, ids);
    },
    (tables) => watchRule(tables, query),
  );
}
