/** What a change makes of a schedule, decided in one place for every store. */
import { hash, type RunId } from '../../ground/index.ts';
import type { Note } from '../acts.ts';
import { alreadyNote, answeredBefore, type LoggedNote } from '../audit.ts';
import { RequestReusedError } from '../errors.ts';
import type { EnqueueAnswer, NewTask } from '../tasks.ts';
import { refuseBadName, refuseBadPlan, refuseBadRevision } from './bounds.ts';
import { ticksOf } from './cron.ts';
import type {
  ScheduleAnswer,
  ScheduleChange,
  ScheduleOrder,
  SchedulePlan,
  ScheduleRefusal,
  ScheduleRow,
  Ticked,
  Ticking,
} from './schedules.ts';

/** How a change is answered, and the row that is written before that, if any. */
export interface Decision {
  readonly answer: ScheduleAnswer;
  readonly write: ScheduleRow | undefined;
  /** Put in with it. */
  readonly task?: NewTask | undefined;
  /** Left in the log where there is no row to write. */
  readonly note?: Note | undefined;
}

/** Throws where it could be written nowhere; to be called before a store is asked. */
export function refuseBadChange({ name, order }: ScheduleChange, now: number): void {
  refuseBadName(name);
  if ('plan' in order) refuseBadPlan(order.plan, now);
  if (order.what === 'declare') refuseBadRevision(order.revision);
}

export function decideChange(
  row: ScheduleRow | undefined,
  change: ScheduleChange,
  now: number,
  isBusy: boolean,
): Decision {
  const { order } = change;
  switch (order.what) {
    case 'set':
      return done(change, said(row, order.plan, { name: change.name, now, source: 'people' }));
    case 'declare':
      return declared(row, change, order, now);
    case 'pause':
      return moved(row, change, 'paused', now);
    case 'resume':
      return moved(row, change, 'active', now);
    case 'remove':
      return moved(row, change, 'removed', now);
    case 'run':
      return ran(row, change, order, { now, isBusy });
  }
}

/** The run that has to have ended before there is another; undefined where there may be several. */
export function runBefore(row: ScheduleRow | undefined): RunId | undefined {
  return row?.overlap === 'skip' ? row.lastRun : undefined;
}

/** Its ticks stay as they are. */
function ran(
  row: ScheduleRow | undefined,
  change: ScheduleChange,
  { task, edition }: Pick<ScheduleOrder & { readonly what: 'run' }, 'task' | 'edition'>,
  { now, isBusy }: { readonly now: number; readonly isBusy: boolean },
): Decision {
  const { name } = change;
  if (!row) return refused('unknown', `there is no schedule ${name}`);
  if (row.status === 'removed')
    return refused('removed', `${name} was removed: to run it, set it again first`);
  if (isBusy)
    return refused('busy', `its run ${row.lastRun} has not ended, and it has one at a time`);
  if (edition !== undefined && edition !== row.edition)
    return refused('changed', 'it was changed, or has ticked, since it was read: ask again');
  const last = { lastRun: task.id, lastRunAt: now, edition: row.edition + 1, updatedAt: now };
  const { answer, write } = done(change, { ...row, ...last });
  return write
    ? { answer: { ...answer, run: task.id } as ScheduleAnswer, write, task }
    : { answer, write };
}

/** Whoever is told of a run finds it: one whose key stands for something else is not put in. */
export function refuseTaken({ requestId, order }: ScheduleChange, isNew: boolean): void {
  if (isNew || order.what !== 'run') return;
  throw new RequestReusedError(requestId, `a task that has the key ${order.task.key}`);
}

/** What a row is given after a tick, besides where it goes on. */
export interface Came {
  readonly ticked: NonNullable<Ticked>;
  /** Of the last tick: its own, or the one that has its key. */
  readonly lastRun: RunId | undefined;
  readonly trouble: string | undefined;
}

/** What came of the tasks of a tick, as a store has found them under its lock, in their order. */
export function cameOf(
  { tasks, trouble }: Ticking,
  found: readonly Pick<EnqueueAnswer, 'id' | 'isNew'>[],
): Came {
  const runs = found.filter(({ isNew }) => isNew).map(({ id }) => id);
  const index = found.findLastIndex(({ isNew }) => !isNew);
  const [task, other] = [tasks[index], found[index]];
  const taken =
    task && other
      ? `the key ${task.key} is that of ${other.id}, which was there before: nothing was put in`
      : undefined;
  return { ticked: { runs, taken }, lastRun: found.at(-1)?.id, trouble: taken ?? trouble };
}

function declared(
  row: ScheduleRow | undefined,
  change: ScheduleChange,
  { plan, revision }: { readonly plan: SchedulePlan; readonly revision: number },
  now: number,
): Decision {
  const digest = digestOf(change);
  if (row && revision <= row.revision) {
    const isOther = revision === row.revision && digest !== row.declared;
    return { answer: answered(change, isOther ? 'ignored' : 'already', row), write: undefined };
  }
  const made = said(row, plan, { name: change.name, now, source: 'code' });
  return done(change, { ...made, revision, declared: digest });
}

/** What it says is new; that people have paused it stays, and that they removed it does not. */
function said(
  row: ScheduleRow | undefined,
  plan: SchedulePlan,
  { name, now, source }: Pick<ScheduleRow, 'name' | 'source'> & { readonly now: number },
): ScheduleRow {
  const status = row?.status === 'paused' ? 'paused' : 'active';
  const {
    revision = 0,
    declared,
    edition = 0,
    lastAt,
    lastRun,
    lastRunAt,
    ticks = 0,
    skipped = 0,
    createdAt = now,
  } = row ?? {};
  const made = {
    ...plan,
    name,
    source,
    status,
    revision,
    declared,
    lastAt,
    lastRun,
    lastRunAt,
    ticks,
    skipped,
  } as const;
  const nextAt = status === 'active' ? firstOf(plan, lastAt, now) : undefined;
  const times = { createdAt, updatedAt: now, nextAt };
  return { ...made, ...times, edition: edition + 1, trouble: undefined };
}

function moved(
  row: ScheduleRow | undefined,
  change: ScheduleChange,
  status: ScheduleRow['status'],
  now: number,
): Decision {
  const { name, order } = change;
  if (!row) return refused('unknown', `there is no schedule ${name}`);
  if (row.status === status) {
    const note = change.isDryRun ? undefined : alreadyNote(noteOf(change));
    return { answer: answered(change, 'already', row), write: undefined, note };
  }
  if (row.status === 'removed')
    return refused('removed', `${name} was removed: to ${order.what} it, set it again first`);
  const nextAt = status === 'active' ? firstOf(row, row.lastAt, now) : undefined;
  return done(change, { ...row, status, nextAt, edition: row.edition + 1, updatedAt: now });
}

/** Never one that was put in already, whatever became of the schedule since. */
function firstOf(
  { expression, zone }: SchedulePlan,
  lastAt: number | undefined,
  now: number,
): number | undefined {
  return ticksOf(expression, zone).after(Math.max(now, lastAt ?? now));
}

function done(change: ScheduleChange, row: ScheduleRow): Decision {
  const write = change.isDryRun ? undefined : row;
  return { answer: answered(change, 'done', row), write };
}

function answered(
  { isDryRun = false }: ScheduleChange,
  kind: 'done' | 'already' | 'ignored',
  schedule: ScheduleRow,
): ScheduleAnswer {
  return { kind, isRepeated: false, isDryRun, schedule };
}

function refused(why: ScheduleRefusal, detail: string): Decision {
  return { answer: { kind: 'refused', why, detail }, write: undefined };
}

/** Names what is asked: one request id stands for one change. */
export function digestOf({ digest, order }: ScheduleChange): string {
  if (digest !== undefined || !('plan' in order)) return digest ?? '';
  const { machine, expression, zone, payload, tickAs, missed, jitterMs, queue, priority } =
    order.plan;
  const { overlap } = order.plan;
  const words = [machine, expression, zone, payload, tickAs ?? null, missed, jitterMs];
  // What was declared before there was a choice is still the same.
  const more = overlap === 'allow' ? [] : [overlap];
  return hash(JSON.stringify([...words, queue, priority, ...more]));
}

/** The row that a change leaves in the audit log. */
export function noteOf(change: ScheduleChange): Note {
  const { requestId, who, via, name, order, reason } = change;
  const digest = digestOf(change);
  const said = {
    ...(digest === '' ? {} : { digest }),
    ...(reason === undefined ? {} : { reason }),
  };
  const task = order.what === 'run' ? order.task.id : undefined;
  return {
    requestId,
    who,
    what: `schedule.${order.what}`,
    task,
    detail: { via, schedule: name, ...said },
  };
}

/** Whether the log has the change already. A run that is asked for again would have another id. */
export function isChanged(change: ScheduleChange, logged: LoggedNote | undefined): boolean {
  return beforeOf(change, logged) !== undefined;
}

function beforeOf(change: ScheduleChange, logged: LoggedNote | undefined) {
  const note = noteOf(change);
  const isRun = change.order.what === 'run' && logged !== undefined;
  return answeredBefore(isRun ? { ...note, task: logged.task as RunId } : note, logged);
}

/** It had been done before, under this request id. */
export function repeated(
  change: ScheduleChange,
  row: ScheduleRow | undefined,
  logged: LoggedNote | undefined,
): ScheduleAnswer {
  if (!row) return refused('unknown', `there is no schedule ${change.name}`).answer;
  const run = logged?.task as RunId | undefined;
  const { kind = 'done' } = beforeOf(change, logged) ?? {};
  return { kind, isRepeated: true, isDryRun: false, schedule: row, run };
}
