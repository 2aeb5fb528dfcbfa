/** Schedules, as rows. What a change makes of them is decided elsewhere. */
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
import { isOpen } from '../words.ts';
import { note } from './act.ts';
import { enqueue } from './claims.ts';
import { by, type MemoryTables, refuseUnstorable } from './tables.ts';

export function changeSchedule(tables: MemoryTables, change: ScheduleChange): ScheduleAnswer {
  refuseBadChange(change, tables.now());
  const { name, order, requestId } = change;
  if ('plan' in order) refuseUnstorable(order.plan.payload);
  const row = tables.schedules.get(name);
  const found = tables.audit.get(requestId);
  const logged = found && { ...found, task: found.taskId };
  if (isChanged(change, logged)) return repeated(change, row, logged);
  const decision = decideChange(row, change, tables.now(), isBusy(tables, row));
  const { answer, write, task } = decision;
  if (decision.note) note(tables, decision.note);
  if (!write) return answer;
  if (task) refuseTaken(change, enqueue(tables, [task])[0]!.isNew);
  note(tables, noteOf(change));
  tables.schedules.set(name, write);
  if (task) tables.hint('ready');
  return answer;
}

function isBusy(tables: MemoryTables, row: ScheduleRow | undefined): boolean {
  const before = runBefore(row);
  const found = before === undefined ? undefined : tables.tasks.get(before);
  return found !== undefined && isOpen(found.status);
}

const byDue = by<ScheduleRow>(
  ({ nextAt }) => nextAt ?? 0,
  ({ name }) => name,
);

export function dueSchedules(
  tables: MemoryTables,
  machines: readonly string[],
  countMax: number,
): DueSchedules {
  const now = tables.now();
  const open = [...tables.schedules.values()]
    .filter(({ nextAt, machine }) => nextAt !== undefined && machines.includes(machine))
    .sort(byDue);
  const later = open.find(({ nextAt }) => nextAt! > now)?.nextAt;
  const due = open.filter(({ nextAt }) => nextAt! <= now).slice(0, countMax);
  return { now, due, nextMs: later === undefined ? undefined : later - now };
}

export function tickSchedule(tables: MemoryTables, ticking: Ticking): Ticked {
  const { name, edition, lastAt, nextAt } = ticking;
  const row = tables.schedules.get(name);
  if (row?.edition !== edition) return undefined;
  const { ticked, lastRun, trouble } = cameOf(ticking, enqueue(tables, ticking.tasks));
  const ticks = row.ticks + ticked.runs.length;
  const skipped = row.skipped + ticking.skipped;
  const last = lastRun === undefined ? {} : { lastRun, lastRunAt: lastAt };
  const moved = { edition: edition + 1, lastAt, nextAt, ...last, ticks, skipped, trouble };
  tables.schedules.set(name, { ...row, ...moved, updatedAt: tables.now() });
  if (ticked.runs.length > 0) tables.hint('ready');
  return ticked;
}

export function schedules(
  tables: MemoryTables,
  { names, after, countMax }: ScheduleQuery,
): ScheduleRow[] {
  const isAsked = ({ name, status }: ScheduleRow) =>
    names?.includes(name) ?? (status !== 'removed' && (after === undefined || name > after));
  return [...tables.schedules.values()]
    .filter(isAsked)
    .sort(by(({ name }) => name))
    .slice(0, Math.max(0, countMax));
}
