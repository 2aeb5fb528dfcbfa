/** Tasks as people and programs see them: one line in a list, or all that is known. */
import { isBlocked, type LiveRoutes, whyBlocked } from '../../fleet/index.ts';
import { isoTime, showDuration, systemClock } from '../../ground/index.ts';
import {
  FOLLOWERS_TOLD_MAX,
  type Follower,
  type Follows,
  revisionOf,
  type TaskGlance,
  type TaskRow,
  type TaskStatus,
} from '../../store/index.ts';
import type { Output } from '../output.ts';
import type { Style } from '../paint.ts';
import { textAsJson } from '../shown.ts';
import { type Column, plain } from '../table.ts';

export interface TaskView {
  readonly id: string;
  readonly machine: string;
  readonly version: number;
  readonly status: TaskStatus;
  readonly outcome?: string | undefined;
  readonly generation: number;
  /** The pod that holds it. */
  readonly pod?: string | undefined;
  readonly queue: string;
  readonly priority: number;
  readonly key?: string | undefined;
  readonly serialKey?: string | undefined;
  /** The run after which it goes. */
  readonly follows?: Follows | undefined;
  /** Who goes after it, where one task is shown, and anybody does. */
  readonly followers?: readonly Follower[] | undefined;
  readonly hasMoreFollowers?: true | undefined;
  readonly retries: number;
  readonly crashes: number;
  readonly claims: number;
  readonly waitsFor?: string | undefined;
  /** Why no pod that is up can go on with it, where none can. */
  readonly blocked?: string | undefined;
  readonly control?: string | undefined;
  readonly isPaused: boolean;
  /** What --if-revision compares. */
  readonly revision: string;
  readonly pinnedTo?: string | undefined;
  readonly enqueuedAt: number;
  readonly dueAt: number;
  readonly updatedAt: number;
  readonly deadlineAt?: number | undefined;
  readonly finishedAt?: number | undefined;
  readonly discardedAt?: number | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
}

export const STYLE_OF_TASK: Record<TaskStatus, Style> = {
  pending: 'reset',
  waiting: 'yellow',
  claimed: 'cyan',
  completed: 'green',
  failed: 'red',
  cancelled: 'gray',
};

/**
 * `live`: what pods that are up can run; where it is given, what is blocked is told. A row of a list
 * has neither input nor output.
 */
export function viewOf(
  row: TaskGlance & Partial<Pick<TaskRow, 'payload' | 'result'>>,
  live?: LiveRoutes,
): TaskView {
  return {
    id: row.id,
    machine: row.machine,
    version: row.version,
    status: row.status,
    outcome: row.outcome,
    generation: row.generation,
    pod: row.claimedBy,
    queue: row.queue,
    priority: row.priority,
    key: row.key,
    serialKey: row.serialKey,
    follows: row.follows,
    retries: row.retryCount,
    crashes: row.crashes,
    claims: row.claims,
    waitsFor: row.waitFor,
    blocked: live && isBlocked(live, row) ? whyBlocked(live, row) : undefined,
    control: row.control,
    isPaused: row.isPaused,
    revision: revisionOf(row),
    pinnedTo: row.pinnedTo,
    enqueuedAt: row.createdAt,
    dueAt: row.runAt,
    updatedAt: row.updatedAt,
    deadlineAt: row.deadlineAt,
    finishedAt: row.finishedAt,
    discardedAt: row.discardedAt,
    input: textAsJson(row.payload),
    output: textAsJson(row.result),
    error: textAsJson(row.error),
  };
}

export function taskColumns(now: number): Column<TaskView>[] {
  return [
    { head: 'TASK', text: (task) => task.id },
    { head: 'MACHINE', text: (task) => `${task.machine}@${task.version}`, isElastic: true },
    {
      head: 'STATUS',
      text: statusText,
      data: (task) => (task.blocked === undefined ? task.status : 'blocked'),
      style: (task) => (task.blocked === undefined ? STYLE_OF_TASK[task.status] : 'red'),
    },
    { head: 'RETRIES', text: (task) => `${task.retries}`, align: 'right' },
    { head: 'CRASHES', text: (task) => `${task.crashes}`, align: 'right' },
    { head: 'AGE', text: (task) => ageOf(task, now), align: 'right' },
  ];
}

function statusText({ blocked, outcome, status }: TaskView): string {
  if (blocked !== undefined) return 'blocked';
  return outcome === 'handedOff' ? 'handed off' : status;
}

/** From when it was enqueued to its end, or to now. */
export function ageOf(task: TaskView, now: number): string {
  return showDuration(Math.max(0, (task.finishedAt ?? now) - task.enqueuedAt));
}

export function showTask(task: TaskView, output: Output): void {
  const now = systemClock.now();
  const { paint } = output;
  const isOpen = task.finishedAt === undefined;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['task', task.id],
    ['machine', `${task.machine}@${task.version}`],
    ['key', task.key],
    ['serial key', task.serialKey],
    ['status', paint(STYLE_OF_TASK[task.status], task.status)],
    ['outcome', task.outcome],
    ['after', task.follows && `the ${task.follows.on} of ${plain(task.follows.run)}`],
    ['waits for', task.waitsFor],
    ['blocked', task.blocked],
    ['pod', task.pod],
    ['asked to', task.control],
    ['paused', task.isPaused ? 'until somebody resumes it' : undefined],
    ['generation', task.generation > 1 ? `${task.generation}` : undefined],
    ['priority', task.priority === 0 ? undefined : `${task.priority}`],
    ['queue', task.queue === 'default' ? undefined : task.queue],
    ['retries', task.retries === 0 ? undefined : `${task.retries}`],
    ['crashes', task.crashes === 0 ? undefined : `${task.crashes}`],
    ['enqueued', isoTime(task.enqueuedAt)],
    ['due', isOpen && task.dueAt > now ? `in ${showDuration(task.dueAt - now)}` : undefined],
    ['took', isOpen ? undefined : ageOf(task, now)],
    ['discarded', task.discardedAt === undefined ? undefined : isoTime(task.discardedAt)],
    [task.status === 'failed' ? 'error' : 'last error', errorText(task.error)],
    ...(task.followers ?? []).map(
      ({ run, machine, status, on }) =>
        ['follower', `${run} ${plain(machine)}, ${status}, on its ${on}`] as const,
    ),
    ['followers', task.hasMoreFollowers && `more than these ${FOLLOWERS_TOLD_MAX}`],
    ['input', jsonText(task.input)],
    ['output', jsonText(task.output)],
  ];
  for (const [name, text] of rows) {
    if (text === undefined) continue;
    const shown = name === 'status' ? text : plain(text);
    output.line(`${paint('gray', name.padEnd(10))} ${shown}`);
  }
}

/** What went wrong, without what kind of error it was. */
export function messageOf(error: unknown): string | undefined {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === 'string' ? message : errorText(error);
}

export function errorText(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  const { name, message } = Object(error) as { name?: unknown; message?: unknown };
  return typeof message === 'string' ? `${name ?? 'Error'}: ${message}` : JSON.stringify(error);
}

function jsonText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
