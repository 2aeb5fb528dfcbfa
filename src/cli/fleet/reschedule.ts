/** fleetq reschedule <task> --run-at 10m: changes when a task is due that nobody holds. */
import type { RunId } from '../../ground/index.ts';
import type { Execute } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import { readDue } from '../input.ts';
import { idOf } from '../runs.ts';
import { withTasks } from './open.ts';

export const reschedule: Execute = async ({ config, output }, options, task) => {
  idOf(task, 'the argument');
  const due = readDue(options['runAt']);
  if (!due) throw new UsageError("--run-at is missing: a duration such as '10m', or a time");
  return withTasks(config, async (tasks) => {
    const before = await tasks.find(task as RunId);
    const answer = await tasks.reschedule(before.id, due);
    const isDone = answer === 'done';
    if (output.isJson) output.json({ task, isRescheduled: isDone, status: before.status });
    else if (isDone) output.line(`${task} rescheduled`);
    else output.note(`${task} cannot be rescheduled: it is ${before.status}`);
    return isDone ? Exit.ok : Exit.failure;
  });
};
