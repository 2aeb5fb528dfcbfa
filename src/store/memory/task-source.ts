/** Tasks and the audit log in memory, as readers look through them. */

import type { RunId } from '../../ground/index.ts';
import type { AuditReach, AuditSlice, AuditSource } from '../reading/audit.ts';
import type { Position } from '../reading/cursor.ts';
import type { Hook } from '../reading/question.ts';
import { cutError } from '../reading/searching.ts';
import type { End, Found, Parts, Reach, Slice, Tally, TaskSource } from '../reading/source.ts';
import { taskRowOf } from './rows.ts';
import type { MemoryTables, TaskRecord } from './tables.ts';

export class MemoryTaskSource implements TaskSource, AuditSource {
  readonly pace = { rowsFirst: 1_000, rowsMax: 50_000, sliceMs: 50 };
  readonly #tables: () => MemoryTables;

  constructor(tables: () => MemoryTables) {
    this.#tables = tables;
  }

  async now(): Promise<number> {
    return this.#tables().now();
  }

  async liveRoutes(): Promise<readonly string[]> {
    return this.#tables()
      .podsWhere(({ status }) => status === 'up')
      .flatMap(({ routes }) => routes);
  }

  async slice(reach: Reach, foundMax: number): Promise<Slice> {
    const { looked, end } = this.#look(reach);
    const found = looked.map(foundOf).filter(({ task }) => reach.question.fits(task));
    return { found: found.slice(0, foundMax), end };
  }

  async tally(reach: Reach, { fromMs, widthMs }: Parts): Promise<Tally> {
    const { looked, end } = this.#look(reach);
    const found = looked.map(foundOf).filter(({ task }) => reach.question.fits(task));
    return {
      counts: found.map(({ task: { createdAt, status } }) => {
        return { part: Math.floor((createdAt - fromMs) / widthMs), status, count: 1 };
      }),
      end,
    };
  }

  /** Nothing is found at once here: everything is walked. */
  async gather(_hook: Hook): Promise<undefined> {
    return undefined;
  }

  async among(
    ids: readonly string[],
    reach: Omit<Reach, 'rowsMax'>,
    foundMax: number,
  ): Promise<readonly Found[]> {
    const all = { ...reach, rowsMax: Number.MAX_SAFE_INTEGER };
    const { found } = await this.slice(all, Number.MAX_SAFE_INTEGER);
    return found.filter(({ id }) => ids.includes(id)).slice(0, foundMax);
  }

  async auditSlice({ task, who, what, after, rowsMax, foundMax }: AuditReach): Promise<AuditSlice> {
    const rows = [...this.#tables().audit.values()]
      .filter((row) => task === undefined || row.taskId === task)
      .filter((row) => isOlder(row, after))
      .sort(newestFirst((row) => row));
    const looked = rows.slice(0, rowsMax);
    const found = looked
      .filter((row) => (who ?? row.who) === row.who && (what ?? row.what) === row.what)
      .slice(0, foundMax)
      .map(({ id, at, taskId, detail, ...row }) => ({
        at: `${at}`,
        id,
        row: { requestId: id, at, ...row, task: taskId as RunId | undefined, detail },
      }));
    const last = rows.length > rowsMax ? looked.at(-1) : undefined;
    return { found, end: last && { at: `${last.at}`, id: last.id } };
  }

  isAt(text: string): boolean {
    return /^-?\d{1,15}$/.test(text);
  }

  #look({ question, after, rowsMax }: Reach): { looked: TaskRecord[]; end: End | undefined } {
    const { statuses, from, until } = question;
    const placed = this.#tables()
      .tasksWhere(({ status, createdAt }) => {
        return statuses.includes(status) && createdAt >= from && createdAt < until;
      })
      .filter((task) => isOlder(placeOf(task), after))
      .sort(newestFirst(placeOf));
    const looked = placed.slice(0, rowsMax);
    const last = placed.length > rowsMax ? looked.at(-1) : undefined;
    const end = last && { at: `${last.createdAt}`, id: last.taskId, createdMs: last.createdAt };
    return { looked, end };
  }
}

function placeOf({ createdAt: at, taskId: id }: TaskRecord) {
  return { at, id };
}

function foundOf(record: TaskRecord): Found {
  const { payload: _, result: __, ...task } = taskRowOf(record);
  const glance = { ...task, error: cutError(task.error) };
  return { at: `${record.createdAt}`, id: record.taskId, task: glance };
}

interface Place {
  readonly at: number;
  readonly id: string;
}

/** By the bytes of ids, as the SQL stores order them. */
export function newestFirst<Row>(of: (row: Row) => Place): (one: Row, other: Row) => number {
  return (one, other) => compare(of(other), of(one));
}

function isOlder(place: Place, than: Position | undefined): boolean {
  return than === undefined || compare(place, { at: Number(than.at), id: than.id }) < 0;
}

function compare(one: Place, other: Place): number {
  return one.at - other.at || Buffer.compare(Buffer.from(one.id), Buffer.from(other.id));
}
