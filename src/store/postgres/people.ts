/** What people look at. */
import type { RunId } from '../../ground/index.ts';
import { boundedTime } from '../bounds.ts';
import type { Census, MachineCount, QueueCensus, RouteCensus } from '../census.ts';
import type { Head } from '../store.ts';
import type { RouteTally, TaskFilter, TaskRow } from '../tasks.ts';
import { glanceOf, type Watch, type WatchQuery, watchOf } from '../watch.ts';
import { selectMayChange } from './audit-log.sql.ts';
import { selectCensus } from './census.sql.ts';
import { oldestTransactionMs } from './facts.ts';
import type { Pool, Row } from './pool.ts';
import { finite, headOf, taskRowOf } from './rows.ts';
import * as statements from './step-tracker.sql.ts';
import { countClaimable } from './step-tracker-claim.sql.ts';
import { watchTasks } from './watch.sql.ts';

const FIND_BATCH_MAX = 1_000;
const LIST_COUNT_MAX = 1_000;

export class PostgresPeople {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async find(ids: readonly RunId[]): Promise<TaskRow[]> {
    const found: TaskRow[] = [];
    for (let start = 0; start < ids.length; start += FIND_BATCH_MAX) {
      const batch = ids.slice(start, start + FIND_BATCH_MAX);
      found.push(...(await this.#pool.query(statements.selectTasks, [batch])).map(taskRowOf));
    }
    return found;
  }

  async list(filter: TaskFilter): Promise<TaskRow[]> {
    const { status, machine, claimedBy, before, isDeadLetter, isInFlight = false } = filter;
    const count = Math.min(filter.countMax, LIST_COUNT_MAX);
    if (count <= 0) return [];
    const text = isDeadLetter ? statements.listDeadLetters : statements.listTasks;
    const given = [status ?? null, machine ?? null, claimedBy ?? null, before ?? null];
    const values = [...given, count, isInFlight];
    return (await this.#pool.query(text, values)).map(taskRowOf);
  }

  async mayChange(): Promise<boolean> {
    return (await this.#pool.query(selectMayChange))[0]?.['may_change'] === true;
  }

  /** With one more than is told, to know whether there is. */
  async watch(query: WatchQuery): Promise<Watch> {
    const { followed, others, sinceMs, countMax } = query;
    const since = sinceMs === undefined ? null : boundedTime(sinceMs);
    const [snapshot = null, oldest = null] = query.mark?.split(' ') ?? [];
    const count = countMax + followed.length + 1;
    const values = [[...new Set(followed)], others, since, count, snapshot, oldest];
    const rows = await this.#pool.query(watchTasks, values);
    const found = rows.filter((row) => row['task_id'] !== null);
    const tasks = found.map((row) => glanceOf(taskRowOf(row)));
    const heads = found.flatMap((row) => (row['head_seq'] === null ? [] : [watchedHead(row)]));
    const { now_ms: nowMs, snapshot: seen, oldest_ms: begun } = rows[0] ?? {};
    return watchOf(query, nowMs as number, tasks, heads, `${seen} ${begun ?? nowMs}`);
  }

  async inFlight(routes?: readonly string[]): Promise<RouteTally[]> {
    const rows =
      routes === undefined
        ? await this.#pool.query(statements.countInFlight)
        : await this.#pool.query(countClaimable, [routes]);
    return rows as unknown as RouteTally[];
  }

  async census(countMax: number, silentMs: number): Promise<Census> {
    const [row = {}] = await this.#pool.byIndexes(selectCensus, [countMax, silentMs]);
    return { ...censusOf(row), oldestTransactionMs: await oldestTransactionMs(this.#pool) };
  }
}

export function censusOf(row: Row): Omit<Census, 'oldestTransactionMs'> {
  const routes = (row['routes'] ?? []) as RouteCensus[];
  const overdue = (ms: unknown) => (Number(finite(ms)) > 0 ? finite(ms) : undefined);
  return {
    routes: routes.map((route) => ({ ...route, oldestMs: overdue(route.oldestMs) })),
    claimed: (row['claimed'] ?? []) as MachineCount[],
    deadLetters: (row['dead_letters'] ?? []) as MachineCount[],
    orphans: row['orphans'] as number,
    orphansOldestMs: overdue(row['oldest_ms']),
    queues: ((row['queues'] ?? []) as QueueCensus[]).map((queue) => ({
      ...queue,
      limit: queue.limit ?? undefined,
    })),
    scheduleLateMs: overdue(row['late_ms']),
    endedOldestMs: overdue(row['ended_ms']),
    keysLateMs: overdue(row['keys_ms']),
  };
}

function watchedHead(row: Row): Head {
  const { head_epoch: epoch, head_seq: last_seq, head_hash: last_hash } = row;
  return headOf({ ...row, epoch, last_seq, last_hash });
}
