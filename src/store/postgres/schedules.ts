/**
 * Schedules, as rows. A change holds the row while it is decided; a tick is a compare-and-set on its
 * edition, together with the tasks that it puts in.
 */
import type { RunId } from '../../ground/index.ts';
import { StoreBusyError } from '../errors.ts';
import {
  cameOf,
  decideChange,
  isChanged,
  noteOf,
  refuseBadChange,
  refuseTaken,
  repeated,
  runBefore,
} from '../schedule/decide.ts';
import type {
  DueSchedules,
  ScheduleAnswer,
  ScheduleChange,
  ScheduleQuery,
  ScheduleRow,
  Ticked,
  Ticking,
} from '../schedule/schedules.ts';
import type { EnqueueAnswer, NewTask } from '../tasks.ts';
import { isOpen, type TaskStatus } from '../words.ts';
import { note } from './act.ts';
import { selectLogged } from './audit-log.sql.ts';
import { columnsOf } from './batches.ts';
import type { Hinter } from './hinter.ts';
import { TASK_COLUMNS } from './new-tasks.ts';
import type { Pool, Row, Send } from './pool.ts';
import { auditRowOf } from './rows.ts';
import * as statements from './schedule.sql.ts';
import { enqueueTasks, freeKeys, selectStandingByKey } from './step-tracker.sql.ts';

export class PostgresSchedules {
  readonly #pool: Pool;
  readonly #hinter: Hinter;

  constructor(pool: Pool, hinter: Hinter) {
    this.#pool = pool;
    this.#hinter = hinter;
  }

  async change(given: ScheduleChange): Promise<ScheduleAnswer> {
    const answer = await this.#pool.transaction((send) => change(send, given));
    if (given.order.what === 'run') this.#hinter.hint('ready');
    return answer;
  }

  async due(machines: readonly string[], countMax: number): Promise<DueSchedules> {
    const rows = await this.#pool.query(statements.selectDue, [machines, countMax]);
    const { now, later } = rows[0]!;
    return {
      now: now as number,
      due: rows.filter((row) => row['name'] !== null).map(scheduleRowOf),
      nextMs: later === null ? undefined : (later as number) - (now as number),
    };
  }

  async tick(ticking: Ticking): Promise<Ticked> {
    const ticked = await this.#pool.transaction((send) => tick(send, ticking));
    const count = ticked?.runs.length ?? 0;
    if (count > 0) this.#hinter.hint('ready', { count });
    return ticked;
  }
}

async function change(send: Send, given: ScheduleChange): Promise<ScheduleAnswer> {
  const [held] = await send(statements.lockSchedule, [given.name]);
  // After the wait for the row: somebody may have let a tick pass meanwhile.
  const [{ now } = {}] = await send(statements.selectNow);
  refuseBadChange(given, now as number);
  const row = held && scheduleRowOf(held);
  const [found] = await send(selectLogged, [given.requestId]);
  const logged = found && auditRowOf(found);
  if (isChanged(given, logged)) return repeated(given, row, logged);
  const decision = decideChange(row, given, now as number, await isBusy(send, row));
  const { answer, write, task } = decision;
  if (decision.note) await note(send, decision.note);
  if (!write) return answer;
  await note(send, noteOf(given));
  if (task) {
    await send(statements.ranSchedule, [given.name, task.id]);
    await send(freeKeys, [[task.machine], [task.key]]);
    const made = await send(enqueueTasks, columnsOf([task], TASK_COLUMNS));
    refuseTaken(given, made.length > 0);
    return answer;
  }
  const values = [...valuesOf(write), ...(row ? [write.trouble ?? null] : [])];
  const put = await send(row ? statements.updateSchedule : statements.insertSchedule, values);
  // Begun again, this will find what the other one has made.
  if (put.length === 0) throw new StoreBusyError(`the schedule ${given.name} is being made`);
  return answer;
}

async function isBusy(send: Send, row: ScheduleRow | undefined): Promise<boolean> {
  const run = runBefore(row);
  if (run === undefined) return false;
  const [found] = await send(statements.selectRun, [run]);
  return found !== undefined && isOpen(found['status'] as TaskStatus);
}

async function tick(send: Send, ticking: Ticking): Promise<Ticked> {
  const { name, edition, lastAt, nextAt, skipped } = ticking;
  const held = await send(statements.lockEdition, [name, edition]);
  if (held.length === 0) return undefined;
  const { ticked, lastRun, trouble } = cameOf(ticking, await putIn(send, ticking.tasks));
  const words = [lastAt, nextAt ?? null, lastRun ?? null, ticked.runs.length, trouble ?? null];
  await send(statements.moveSchedule, [name, edition, ...words, skipped]);
  return ticked;
}

/** One whose key is in use stands for a task that is there: it is not put in again. */
async function putIn(
  send: Send,
  tasks: readonly NewTask[],
): Promise<Pick<EnqueueAnswer, 'id' | 'isNew'>[]> {
  if (tasks.length === 0) return [];
  const keys = columnsOf(tasks, [(task) => task.machine, (task) => task.key]);
  await send(freeKeys, keys);
  const made = await send(enqueueTasks, columnsOf(tasks, TASK_COLUMNS));
  const ids = new Set(made.map((row) => row['task_id'] as RunId));
  const standing = ids.size < tasks.length ? await send(selectStandingByKey, keys) : [];
  return tasks.map(({ id, key }) => {
    if (ids.has(id)) return { id, isNew: true };
    const other = standing.find((row) => row['key'] === key);
    // Begun again, this will find the key free, or who has it.
    if (!other) throw new StoreBusyError(`the key ${key} comes and goes`);
    return { id: other['task_id'] as RunId, isNew: false };
  });
}

function valuesOf(row: ScheduleRow): unknown[] {
  const { name, status, machine, expression, zone, payload, tickAs, missed, jitterMs } = row;
  const { queue, priority, revision, declared, source, edition, nextAt } = row;
  return [
    ...[name, status, machine, expression, zone, payload, tickAs ?? null, missed, jitterMs],
    ...[queue, priority, revision, declared ?? null, source, edition, nextAt ?? null, row.overlap],
  ];
}

export function scheduleRowOf(row: Row): ScheduleRow {
  const maybe = <Value>(value: unknown) => (value ?? undefined) as Value | undefined;
  return {
    name: row['name'] as string,
    status: row['status'] as ScheduleRow['status'],
    machine: row['machine'] as string,
    expression: row['expression'] as string,
    zone: row['zone'] as string,
    payload: row['payload'] as string,
    tickAs: maybe(row['tick_as']),
    missed: row['missed'] as ScheduleRow['missed'],
    jitterMs: row['jitter_ms'] as number,
    queue: row['queue'] as string,
    priority: row['priority'] as number,
    revision: row['revision'] as number,
    declared: maybe(row['declared']),
    source: row['source'] as ScheduleRow['source'],
    edition: row['edition'] as number,
    nextAt: maybe(row['next_at']),
    lastAt: maybe(row['last_at']),
    lastRun: maybe(row['last_run']),
    lastRunAt: maybe(row['last_run_at']),
    ticks: row['ticks'] as number,
    skipped: row['skipped'] as number,
    overlap: row['overlap'] as ScheduleRow['overlap'],
    trouble: maybe(row['trouble']),
    createdAt: row['created_at'] as number,
    updatedAt: row['updated_at'] as number,
  };
}

export async function schedulesOf(
  query: (text: string, values: readonly unknown[]) => Promise<Row[]>,
  { names, after, countMax }: ScheduleQuery,
): Promise<ScheduleRow[]> {
  const values = [names ?? null, after ?? null, Math.max(0, countMax)];
  return (await query(statements.selectSchedules, values)).map(scheduleRowOf);
}
