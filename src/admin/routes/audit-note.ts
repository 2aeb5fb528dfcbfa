/**
 * Traces of what people do. What concerns a task is written with the change itself; the rest, and what
 * they were shown, is noted here: in the store's audit log, or where there is none in the log alone.
 */
import type { RunId } from '../../ground/index.ts';
import { tell } from '../../telemetry/events.ts';
import type { Asked } from '../table.ts';

export async function audit(
  asked: Pick<Asked, 'desk' | 'who' | 'requestId'>,
  what: string,
  task: RunId | undefined,
  detail: object = {},
): Promise<void> {
  const { desk, requestId } = asked;
  const who = asked.who?.name ?? 'nobody';
  tellActed(asked, what, task);
  await desk.shared?.port.note({ requestId, who, what, task, detail: { via: 'api', ...detail } });
}

/** The process's own log has it in any case. */
export function tellActed(
  { who, requestId: request }: Pick<Asked, 'who' | 'requestId'>,
  what: string,
  run: string | undefined,
): void {
  tell('admin.acted', () => ({ who: who?.name ?? 'nobody', by: who?.by, what, run, request }));
}
