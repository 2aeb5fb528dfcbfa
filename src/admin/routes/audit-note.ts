/**
 * Traces of what people do. What concerns a task is written with the change itself; the rest, and what
 * they were shown, is noted here: in the store's audit log, or where there is none in the log alone.
 */
import type { RunId } from '../../ground/index.ts';
import type { StartNote } from '../../store/index.ts';
import { tell } from '../../telemetry/events.ts';
import type { Asked } from '../table.ts';

type Acting = Pick<Asked, 'desk' | 'who' | 'requestId'>;

/**
 * Written before what it tells of is done, so that nothing is done without it. Answers whether the same
 * request was noted before; one that stands for something else is refused.
 */
export async function audit(
  asked: Acting,
  what: string,
  task: RunId | undefined,
  detail: object = {},
): Promise<boolean> {
  const isRepeated = await asked.desk.shared?.port.note({ ...noteOf(asked, what, detail), task });
  tellActed(asked, what, task);
  return isRepeated ?? false;
}

export function noteOf({ who, requestId }: Acting, what: string, detail: object): StartNote {
  return { requestId, who: who?.name ?? 'nobody', what, detail: { via: 'api', ...detail } };
}

/** The process's own log has it in any case. */
export function tellActed(
  { who, requestId: request }: Pick<Asked, 'who' | 'requestId'>,
  what: string,
  run: string | undefined,
): void {
  tell('admin.acted', () => ({ who: who?.name ?? 'nobody', by: who?.by, what, run, request }));
}
