/** The tasks that ticks of a schedule come to. */
import { RUN_MS_MAX } from '../../engine/index.ts';
import {
  type Clock,
  hash,
  isoTime,
  type Json,
  type MintRunId,
  SEAL_PREFIX,
} from '../../ground/index.ts';
import { type Plan, parseInput } from '../../machine/index.ts';
import type { NewTask, ScheduleRow } from '../../store/index.ts';

export interface TasksOfPorts {
  readonly plan: Plan;
  readonly clock: Clock;
  readonly mint: MintRunId;
  readonly keyMs: number;
}

/** There is no key here that opens its input. */
export function isSealed({ payload }: ScheduleRow): boolean {
  return payload.startsWith(SEAL_PREFIX);
}

/** Throws where the machine does not want the input. */
export async function tasksOf(
  row: ScheduleRow,
  ticks: readonly number[],
  ports: TasksOfPorts,
): Promise<NewTask[]> {
  const tasks: NewTask[] = [];
  for (const tick of ticks) {
    const task = await taskOf(row, tick, keyOf(row.name, tick), ports);
    const due = row.jitterMs > 0 ? { at: tick + jitterOf(row, tick) } : undefined;
    tasks.push({ ...task, due });
  }
  return tasks;
}

/** The run that a schedule has at this instant, at once. */
export async function taskOf(
  row: ScheduleRow,
  tick: number,
  key: string,
  { plan, clock, mint, keyMs }: TasksOfPorts,
): Promise<NewTask> {
  const payload = payloadOf(row, tick);
  await parseInput(clock, plan, JSON.parse(payload) as Json);
  return {
    id: mint(),
    machine: plan.name,
    version: plan.version,
    queue: row.queue,
    priority: row.priority,
    due: undefined,
    payload,
    key,
    keyMs,
    retriesMax: undefined,
    deadlineMs: plan.runTimeoutMs ?? RUN_MS_MAX,
    traceParent: undefined,
  };
}

/** Of one tick of one schedule there is one run, whoever puts it in. */
export function keyOf(schedule: string, tick: number): string {
  return `schedule/${schedule}/${isoTime(tick)}`;
}

function payloadOf({ payload, tickAs }: ScheduleRow, tick: number): string {
  if (tickAs === undefined) return payload;
  return JSON.stringify({ ...(JSON.parse(payload) as object), [tickAs]: isoTime(tick) });
}

/** The same on every pod, so that it does not matter which one puts it in. */
function jitterOf({ name, jitterMs }: ScheduleRow, tick: number): number {
  return Number.parseInt(hash(keyOf(name, tick)).slice(0, 8), 16) % jitterMs;
}
