/** Waits for what a run or a task comes to, for as long as whoever asks wants to. */
import { namesOf, refuseUnknownOptions } from './config/known-options.ts';
import { durationOption } from './config/options.ts';
import { resultOf, untilOf } from './engine/index.ts';
import type { Clock, RunId } from './ground/index.ts';
import type { WaitOptions } from './handles.ts';
import type { Ending, Plan } from './machine/index.ts';

const WAIT_NAMES = namesOf<WaitOptions>({ timeout: true, signal: true });

export async function awaitResult(
  clock: Clock,
  plan: Plan | undefined,
  id: RunId,
  ending: (until: AbortSignal | undefined) => Promise<Ending>,
  options: WaitOptions = {},
): Promise<unknown> {
  refuseUnknownOptions(options, WAIT_NAMES, 'result');
  const { timeout, signal } = options;
  const timeoutMs = timeout === undefined ? undefined : durationOption('timeout', timeout);
  const until = untilOf(clock, id, { timeoutMs, signal });
  try {
    return await resultOf(plan, id, await ending(until.signal));
  } finally {
    until.forget();
  }
}
