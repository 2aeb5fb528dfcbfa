/** What live views look at, in one snapshot. */
import { glanceOf, type Watch, type WatchQuery, watchOf } from '../watch.ts';
import { heads } from './archive.ts';
import { type RawTask, taskRow } from './rows.ts';
import type { Tx, Values } from './session.ts';
import * as sql from './watch.sql.ts';

export function watch(tx: Tx, query: WatchQuery): Watch {
  const { followed, others, sinceMs, countMax } = query;
  const found = new Map<string, RawTask>();
  const look = (statement: string, values: Values) => {
    for (const row of tx.all<RawTask>(statement, values)) found.set(row.task_id, row);
  };
  if (followed.length > 0) look(sql.watchFollowed, { ids: JSON.stringify(followed) });
  const runs = [...found.values()].map(({ task_id: task, generation }) => ({ task, generation }));
  if (sinceMs !== undefined) {
    const [since, count] = [Math.floor(sinceMs), countMax + followed.length + 1];
    if (others.length > 0) look(sql.watchOthers, { ids: JSON.stringify(others), since });
    for (const branch of [sql.watchClaimed, sql.watchEnded, sql.watchActed, sql.watchMade]) {
      look(branch, { since, count });
    }
    if (query.mark !== undefined) look(sql.watchLate, { since, count, row: Number(query.mark) });
  }
  const tasks = [...found.values()].map((row) => glanceOf(taskRow(row)));
  const last = tx.get<{ row: number }>(sql.selectLastRow)?.row ?? 0;
  return watchOf(query, tx.now, tasks, heads(tx, runs), `${last}`);
}
