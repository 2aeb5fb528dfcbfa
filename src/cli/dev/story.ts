/** What happens in `fleetq dev`, in words and as data: the same for the table and for lines. */
import { assertNever, showDuration } from '../../ground/index.ts';
import type { Outcome } from '../../machine/index.ts';
import { plain } from '../table.ts';
import type { SupervisorEvent } from './supervisor.ts';

const OUTCOME: Record<Outcome, string> = {
  completed: 'completed',
  handedOff: 'handed off',
  exhausted: 'failed',
  aborted: 'aborted',
  timedOut: 'timed out',
  cancelled: 'cancelled',
};

/** A line for the event; undefined where it is not worth one. */
export function tellEvent(event: SupervisorEvent, id: (run: string) => string): string | undefined {
  switch (event.kind) {
    case 'started':
    case 'begun':
      return undefined;
    case 'ready':
      return `worker ${event.pid} up after ${showDuration(event.elapsedMs)}, boot ${event.boot}`;
    case 'died': {
      const again =
        event.againInMs === undefined ? '' : `, starting again in ${showDuration(event.againInMs)}`;
      return `worker ${event.pid} is gone (${event.how})${again}`;
    }
    case 'resumed':
      return `${id(event.run)} ${event.machine} resumed at ${event.state}, attempt ${event.attempt}`;
    case 'finished': {
      const why = event.reason ? `: ${plain(event.reason)}` : '';
      const took = showDuration(event.elapsedMs);
      return (
        `${id(event.run)} ${event.machine} ${OUTCOME[event.outcome]} ` +
        `at ${event.state} after ${took}${why}`
      );
    }
    case 'refused':
      return `worker cannot begin: ${plain(event.error.message)}`;
    default:
      return assertNever(event);
  }
}
