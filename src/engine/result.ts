/** From how a run ended to what its caller gets: a value, or an error that says which end it was. */
import type { Clock, RunId } from '../ground/index.ts';
import type { Ending, Plan } from '../machine/index.ts';
import {
  RunAbortedError,
  RunCancelledError,
  type RunEndedError,
  RunFailedError,
  RunTimedOutError,
  WaitTimeoutError,
} from './errors.ts';
import { parseOutput } from './view.ts';

/** The output as the last step's schema puts it out; throws where the run did not end well. */
export async function resultOf(
  plan: Plan | undefined,
  id: RunId,
  ending: Ending,
): Promise<unknown> {
  const { outcome, output } = ending;
  if (outcome !== 'completed' && outcome !== 'handedOff') throw errorOf(id, ending);
  const lastStep = plan?.line.findLast((part) => part.kind === 'step');
  if (!plan || !lastStep) return output;
  const parsed = parseOutput(plan, lastStep.name, output ?? null);
  return parsed instanceof Promise ? (await parsed).value : parsed.value;
}

function errorOf(id: RunId, { outcome, state, error, reason, kind }: Ending): RunEndedError {
  switch (outcome) {
    case 'aborted':
      return new RunAbortedError(id, state, reason ?? '', kind ?? 'system');
    case 'timedOut':
      return new RunTimedOutError(id, state, error);
    case 'cancelled':
      return new RunCancelledError(id, state, reason ?? '');
    default:
      return new RunFailedError(id, state, error);
  }
}

/** The signal that ends the waiting for `id`: the caller's, or the one of a time limit, or neither. */
export function untilOf(
  clock: Clock,
  id: RunId,
  limit: { readonly timeoutMs: number | undefined; readonly signal: AbortSignal | undefined },
): { readonly signal: AbortSignal | undefined; readonly forget: () => void } {
  const { timeoutMs, signal } = limit;
  if (timeoutMs === undefined) return { signal, forget: () => undefined };
  const controller = new AbortController();
  const forget = clock.after(timeoutMs, () => controller.abort(new WaitTimeoutError(id)));
  const both = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
  return { signal: both, forget };
}
