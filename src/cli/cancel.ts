/** fleetq cancel <run> [--reason why]: the first cancel wins, an ended run keeps its outcome. */
import type { Store, TaskRow } from '../store/index.ts';
import type { Context, Execute } from './command.ts';
import { Exit, type ExitCode } from './exit.ts';
import { onTaskOrRun } from './fleet/reach-tasks.ts';
import { cancelRun } from './reach.ts';
import { idOf } from './runs.ts';

const REASON_LENGTH_MAX = 1_000;

export const cancel: Execute = async (context, options, id) => {
  idOf(id, 'the argument');
  const reason = (options['reason'] as string | undefined)?.slice(0, REASON_LENGTH_MAX);
  const onTask = (row: TaskRow, store: Store) => cancelTask(context, store, row, reason);
  return onTaskOrRun(context, options, id!, onTask, async () => {
    const { config, output } = context;
    const answer = await cancelRun(config, id!, reason);
    if (output.isJson) output.json({ run: id, ...answer });
    else if (answer.isCancelled) output.line(`${id} cancelled`);
    else output.note(`${id} had ended before: ${answer.outcome}`);
    return answer.isCancelled ? Exit.ok : Exit.failure;
  });
};

/** Ends a task that nobody holds; its owner is asked otherwise, and ends it between two phases. */
async function cancelTask(
  { output }: Context,
  store: Store,
  { id }: TaskRow,
  reason = 'cancelled by request',
): Promise<ExitCode> {
  const answer = await store.cancel(id, reason);
  const [after] = await store.find([id]);
  const ended = after?.outcome ?? after?.status ?? 'removed';
  if (output.isJson) output.json({ task: id, answer, status: after?.status });
  else if (answer === 'done') output.line(`${id} cancelled`);
  else if (answer === 'requested') output.line(`${id} asked to end: the pod that holds it will`);
  else output.note(`${id} had ended before: ${ended}`);
  return answer === 'done' || answer === 'requested' ? Exit.ok : Exit.failure;
}
