/** Schedules, as rows. The lock on the file is that of the row, too. */
import type { RunId } from '../../ground/index.ts';
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
import { isOpen, type TaskStatus } from '../words.ts';
import { note } from './act.ts';
import { selectLogged } from './audit-log.sql.ts';
import { enqueue } from './enqueue.ts';
import { selectFollowed } from './followers.sql.ts';
import type { Hints } from './hints.ts';
import * as sql from './schedule.sql.ts';
import type { Session, Tx } from './session.ts';

function changeSchedule(tx: Tx, change: ScheduleChange): ScheduleAnswer {
  refuseBadChange(change, tx.now);
  const row = find(tx, change.name);
  const logged = loggedUnder(tx, change.requestId);
  if (isChanged(change, logged)) return repeated(change, row, logged);
  const decision = decideChange(row, change, tx.now, isBusy(tx, row));
  const { answer, write, task } = decision;
  if (decision.note) note(tx, decision.note);
  if (!write) return answer;
  note(tx, noteOf(change));
  tx.run(sql.putSchedule, {
    name: write.name,
    status: write.status,
    machine: write.machine,
    expression: write.expression,
    zone: write.zone,
    payload: write.payload,
    tick_as: write.tickAs ?? null,
    missed: write.missed,
    jitter_ms: write.jitterMs,
    queue: write.queue,
    priority: write.priority,
    revision: write.revision,
    declared: write.declared ?? null,
    source: write.source,
    edition: write.edition,
    next_at: write.nextAt ?? null,
    last_at: write.lastAt ?? null,
    last_run: write.lastRun ?? null,
    last_run_at: write.lastRunAt ?? null,
    ticks: write.ticks,
    skipped: write.skipped,
    overlap: write.overlap,
    trouble: write.trouble ?? null,
    created_at: write.createdAt,
    updated_at: write.updatedAt,
  });
  if (task) refuseTaken(change, enqueue(tx, [task])[0]!.isNew);
  return answer;
}

function isBusy(tx: Tx, row: ScheduleRow | undefined): boolean {
  const run = runBefore(row);
  if (run === undefined) return false;
  const found = tx.get<{ readonly status: TaskStatus }>(selectFollowed, { run });
  return found !== undefined && isOpen(found.status);
}

/** Whoever waits for tasks hears of the one that it has put in. */
export async function changeAndTell(
  session: Session,
  hints: Hints,
  change: ScheduleChange,
): Promise<ScheduleAnswer> {
  const answer = await session.write((tx) => changeSchedule(tx, change));
  if (change.order.what === 'run') hints.give('ready');
  return answer;
}

export function dueSchedules(tx: Tx, machines: readonly string[], count: number): DueSchedules {
  const { now } = tx;
  const asked = { machines: JSON.stringify(machines), now };
  const due = tx.all<RawSchedule>(sql.selectDue, { ...asked, count }).map(scheduleRow);
  const later = tx.get<{ next_at: number | null }>(sql.selectNext, asked)?.next_at ?? undefined;
  return { now, due, nextMs: later === undefined ? undefined : later - now };
}

/** Whoever waits for tasks hears of those that it has put in. */
export async function tickAndTell(
  session: Session,
  hints: Hints,
  ticking: Ticking,
): Promise<Ticked> {
  const ticked = await session.write((tx) => tickSchedule(tx, ticking));
  if (ticked && ticked.runs.length > 0) hints.give('ready');
  return ticked;
}

function tickSchedule(tx: Tx, ticking: Ticking): Ticked {
  const { name, edition, lastAt, nextAt } = ticking;
  if (find(tx, name)?.edition !== edition) return undefined;
  const { ticked, lastRun, trouble } = cameOf(ticking, enqueue(tx, ticking.tasks));
  tx.run(sql.moveSchedule, {
    name,
    edition,
    last_at: lastAt,
    next_at: nextAt ?? null,
    last_run: lastRun ?? null,
    ticks: ticked.runs.length,
    skipped: ticking.skipped,
    trouble: trouble ?? null,
    now: tx.now,
  });
  return ticked;
}

export function schedules(tx: Tx, { names, after, countMax }: ScheduleQuery): ScheduleRow[] {
  const count = Math.max(0, countMax);
  if (names) return [...new Set(names)].sort().flatMap((name) => find(tx, name) ?? []);
  return tx.all<RawSchedule>(sql.selectSchedules, { after: after ?? '', count }).map(scheduleRow);
}

function find(tx: Tx, name: string): ScheduleRow | undefined {
  const row = tx.get<RawSchedule>(sql.selectSchedule, { name });
  return row && scheduleRow(row);
}

function loggedUnder(tx: Tx, id: string) {
  const row = tx.get<{
    readonly who: string;
    readonly what: string;
    readonly task_id: RunId | null;
    readonly detail: string | null;
  }>(selectLogged, { id });
  return (
    row && {
      who: row.who,
      what: row.what,
      task: row.task_id ?? undefined,
      detail: row.detail ?? undefined,
    }
  );
}

interface RawSchedule {
  readonly name: string;
  readonly status: ScheduleRow['status'];
  readonly machine: string;
  readonly expression: string;
  readonly zone: string;
  readonly payload: string;
  readonly tick_as: string | null;
  readonly missed: ScheduleRow['missed'];
  readonly jitter_ms: number;
  readonly queue: string;
  readonly priority: number;
  readonly revision: number;
  readonly declared: string | null;
  readonly source: ScheduleRow['source'];
  readonly edition: number;
  readonly next_at: number | null;
  readonly last_at: number | null;
  readonly last_run: RunId | null;
  readonly last_run_at: number | null;
  readonly ticks: number;
  readonly skipped: number;
  readonly overlap: ScheduleRow['overlap'];
  readonly trouble: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

function scheduleRow(row: RawSchedule): ScheduleRow {
  const { name, status, machine, expression, zone, payload, missed, queue, priority } = row;
  const { revision, source, edition, ticks, skipped, overlap } = row;
  return {
    ...{ name, status, machine, expression, zone, payload, missed, queue, priority },
    ...{ revision, source, edition, ticks, skipped, overlap },
    tickAs: row.tick_as ?? undefined,
    jitterMs: row.jitter_ms,
    declared: row.declared ?? undefined,
    nextAt: row.next_at ?? undefined,
    lastAt: row.last_at ?? undefined,
    lastRun: row.last_run ?? undefined,
    lastRunAt: row.last_run_at ?? undefined,
    trouble: row.trouble ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
