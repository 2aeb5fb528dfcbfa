/** Handles on runs and tasks, over whatever executes them. */
import type { Engine } from './engine/index.ts';
import type { Tasks } from './fleet/tasks.ts';
import type { Clock, RunId } from './ground/index.ts';
import { dueOf, type Run, type Task } from './handles.ts';
import type { Plan } from './machine/index.ts';
import { awaitResult } from './wait.ts';

const REASON_CHARS_MAX = 1_000;

function reasonOf(reason: string | undefined): string {
  return String(reason ?? 'cancelled by request').slice(0, REASON_CHARS_MAX);
}

export function taskHandle<O>(
  clock: Clock,
  tasks: Tasks,
  plan: Plan | undefined,
  id: RunId,
): Task<O> {
  return {
    id,
    result: (options) =>
      awaitResult(clock, plan, id, (until) => tasks.ending(id, until), options) as Promise<O>,
    cancel: (reason) => tasks.cancel(id, reasonOf(reason)),
    reschedule: (runAt) => tasks.reschedule(id, dueOf(runAt)),
    pause: () => tasks.pause(id),
    resume: () => tasks.resume(id),
  };
}

export function runHandle<O>(
  clock: Clock,
  engine: Engine,
  plan: Plan | undefined,
  id: RunId,
): Run<O> {
  return {
    id,
    result: (options) =>
      awaitResult(clock, plan, id, (until) => engine.ending(id, until), options) as Promise<O>,
    cancel: (reason) => engine.cancel(id, reasonOf(reason)),
  };
}
