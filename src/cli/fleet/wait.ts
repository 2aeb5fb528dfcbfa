/** fleetq wait <task> [--timeout 30s]: waits until a task has ended, and prints its output. */
import { untilOf } from '../../engine/index.ts';
import type { Tasks } from '../../fleet/tasks.ts';
import type { RunId } from '../../ground/index.ts';
import { systemClock } from '../../ground/index.ts';
import type { Execute } from '../command.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { readTimeout } from '../input.ts';
import type { Output } from '../output.ts';
import { idOf } from '../runs.ts';
import { withoutSecrets } from '../shown.ts';
import { plain } from '../table.ts';
import { withTasks } from './open.ts';
import { messageOf, viewOf } from './task-view.ts';

export const wait: Execute = async ({ config, output }, options, task) => {
  idOf(task, 'the argument');
  const timeoutMs = readTimeout(options['timeout']);
  return withTasks(config, (tasks) => waitFor(tasks, task as RunId, timeoutMs, output));
};

/** The task's output on stdout, how it ended on stderr and in the exit code. */
export async function waitFor(
  tasks: Tasks,
  id: RunId,
  timeoutMs: number,
  output: Output,
): Promise<ExitCode> {
  const limit = Number.isFinite(timeoutMs) ? timeoutMs : undefined;
  const until = untilOf(systemClock, id, { timeoutMs: limit, signal: undefined });
  let isLate = false;
  try {
    await tasks.ending(id, until.signal).catch((error) => {
      if ((error as { code?: unknown }).code !== 'FLEETQ_WAIT_TIMEOUT') throw error;
      isLate = true;
    });
  } finally {
    until.forget();
  }
  const task = withoutSecrets(viewOf(await tasks.find(id)), output.redact);
  if (output.isJson) output.json(task);
  if (isLate && task.finishedAt === undefined) {
    output.note(`task ${id} has not ended yet and goes on: it is ${task.status}`);
    return Exit.timedOut;
  }
  const isGood = task.status === 'completed';
  if (isGood && !output.isJson) output.json(task.output ?? null);
  const why = messageOf(task.error);
  output.note(`task ${id} ${task.outcome ?? task.status}${why ? `: ${plain(why)}` : ''}`);
  return isGood ? Exit.ok : Exit.runFailed;
}
