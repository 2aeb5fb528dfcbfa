/** What a phase comes to whose process died while it was being executed. */
import type { ErrorInfo } from '../ground/index.ts';
import { canProbe, type Phase, type RunEvent } from '../machine/index.ts';
import type { LiveRun } from './live-run.ts';

/** How many processes may die in the function that says how long a sleep is: it has no policy. */
const SLEEP_ATTEMPT_MAX = 3;

/**
 * After the last attempt the effect may be there all the same, so `check` is asked once more where
 * there is one; dying in that too is the end.
 */
export function interruptionOf(run: LiveRun): RunEvent {
  const { plan, state } = run;
  if (state.isSpent) return exhaustedBy(run);
  const error = interruptedError(run);
  if (state.attempt < attemptMaxOf(run)) return { type: 'INTERRUPTED', error };
  return canProbe(plan, state.at)
    ? { type: 'INTERRUPTED', error, isLast: true }
    : { type: 'EXHAUSTED', error };
}

export function exhaustedBy(run: LiveRun): RunEvent {
  return { type: 'EXHAUSTED', error: interruptedError(run) };
}

function attemptMaxOf({ plan, state }: LiveRun): number {
  const place = plan.chart.placeOf(state.at)!;
  const part = plan.line[place.index]!;
  return part.kind === 'sleep' ? SLEEP_ATTEMPT_MAX : part.policy[place.phase as Phase].attemptMax;
}

let last: { readonly at: string; readonly error: ErrorInfo } | undefined;

/**
 * Without a stack, which could only be that of the restart, and would be made for every run. One for
 * all that a process has left in the same phase, one after the other: there may be many.
 */
function interruptedError({ state: { at } }: LiveRun): ErrorInfo {
  if (last?.at !== at) {
    const message = `the process ended while ${at} was running`;
    const error = { name: 'InterruptedError', code: 'FLEETQ_INTERRUPTED', message };
    last = { at, error: Object.freeze(error) };
  }
  return last.error;
}
