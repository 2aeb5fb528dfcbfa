/** What the store is told of an end, and of steps on the way there. */
import type { Ending } from '../machine/index.ts';
import type { EndStatus } from '../store/index.ts';

export function endStatusOf({ outcome }: Ending): EndStatus {
  if (isGood(outcome)) return 'completed';
  return outcome === 'cancelled' ? 'cancelled' : 'failed';
}

export function endErrorOf({ outcome, error, reason, kind }: Ending): string | undefined {
  if (isGood(outcome)) return undefined;
  return JSON.stringify(error ?? { name: outcome, message: reason ?? '', kind });
}

function isGood(outcome: string): boolean {
  return outcome === 'completed' || outcome === 'handedOff';
}

export function stepOf(state: string): string {
  const dot = state.lastIndexOf('.');
  return dot < 0 ? state : state.slice(0, dot);
}

/** Whether the step it stood in is done once it is in that state. */
export function hasLeft(step: string | undefined, state: string): boolean {
  const next = stepOf(state);
  return step !== undefined && next !== step && next !== 'failed' && next !== 'cancelled';
}
