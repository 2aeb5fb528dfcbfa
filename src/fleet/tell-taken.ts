/** Says what has become of tasks that were taken from a pod that is no more, whoever took them. */
import type { RunId } from '../ground/index.ts';
import type { TakenTask } from '../store/index.ts';
import { type RescuedTask, tell } from '../telemetry/events.ts';

/** Their owners died too often: nobody will ever have them again to say so. */
export function tellFailed(taken: readonly TakenTask[]): void {
  for (const { task, machine, status, outcome } of taken) {
    if (status !== 'failed') continue;
    tell('task.failed', () => ({ run: task, machine, outcome: outcome ?? 'failed' }));
  }
}

export function tellRescued(tasks: readonly RescuedTask[]): void {
  if (tasks.length === 0) return;
  tell('tasks.rescued', () => ({
    tasks: tasks.map(({ run, generation, machine, version, status, outcome, hasBegun }) => {
      return { run, generation, machine, version, status, outcome, hasBegun };
    }),
  }));
}

/** Somebody had them, and may have begun them. */
export function tellTakenAway(taken: readonly TakenTask[]): void {
  tellRescued(taken.map(({ task: run, ...of }) => ({ run, ...of, hasBegun: true })));
}

/** Its owner was asked to, and has given it back. */
export function tellPaused(run: RunId): void {
  tell('task.paused', () => ({ run, isAsked: true }));
}
