/** fleetq cancel <run> [--reason why]: the first cancel wins, an ended run keeps its outcome. */
import { REASON_CHARS_MAX, type Store, type TaskRow } from '../store/index.ts';
import type { Context, Execute, Options } from './command.ts';
import { UsageError } from './errors.ts';
import { Exit, type ExitCode } from './exit.ts';
import { actOn, reasonOf, sayAct } from './fleet/acting.ts';
import { onTaskOrRun } from './fleet/reach-tasks.ts';
import { cancelRun } from './reach.ts';
import { idOf } from './runs.ts';

const ACT_OPTIONS = ['dryRun', 'ifRevision', 'requestId'] as const;

function notForRuns(): UsageError {
  return new UsageError('--dry-run, --if-revision and --request-id are for tasks of a store');
}

export const cancel: Execute = async (context, options, id) => {
  idOf(id, 'the argument');
  const onTask = (row: TaskRow, store: Store) => cancelTask(context, options, store, row);
  return onTaskOrRun(context, options, id!, onTask, async () => {
    const { config, output } = context;
    if (ACT_OPTIONS.some((name) => options[name] !== undefined)) throw notForRuns();
    const reason = (options['reason'] as string | undefined)?.slice(0, REASON_CHARS_MAX);
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
  options: Options,
  store: Store,
  { id }: TaskRow,
): Promise<ExitCode> {
  const deed = { what: 'cancel', reason: reasonOf(options['reason']) } as const;
  const acted = await actOn(store, id, deed, options);
  return sayAct(output, id, deed, acted, {
    done: 'cancelled',
    requested: 'asked to end: the pod that holds it will',
    already: 'was cancelled before',
  });
}
