/** Waits for what a run or a task comes to, for as long as whoever asks wants to. */
import { durationOption } from './config/options.ts';
import { resultOf, untilOf } from './engine/index.ts';
import type { Clock, RunId } from './ground/index.ts';
import type { WaitOptions } from './handles.ts';
import type { Ending, Plan } from './machine/index.ts';

export async function awaitResult(
  clock: Clock,
  plan: Plan | undefined,
  id: RunId,
  ending: (until: AbortSignal | undefined) => Promise<Ending>,
  { timeout, signal }: WaitOptions = {},
): Promise<unknown> {
  const timeoutMs = timeout === undefined ? undefined : durationOption('timeout', timeout);
  const until = untilOf(clock, id, { timeoutMs, signal });
  try {
    return await resultOf(plan, id, await ending(until.signal));
  } finally {
    until.forget();
  }
}
