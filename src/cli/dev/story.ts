/** What happens in `fleetq dev`, in words: the same for the table and for lines. */
import { relative, sep } from 'node:path';
import { assertNever, showDuration } from '../../ground/index.ts';
import type { Outcome } from '../../machine/index.ts';
import type { Style } from '../paint.ts';
import { plain } from '../table.ts';
import type { SupervisorEvent } from '../worker/supervisor.ts';
import type { TakenOver } from './board.ts';
import { type Verdict, verdictText } from './verifier.ts';

export type DevEvent =
  /** What a pod told, and which one. */
  | (SupervisorEvent & { readonly by: string })
  | TakenOver
  | {
      readonly kind: 'killed';
      readonly name: string;
      readonly pid: number | undefined;
      readonly holds: number;
    }
  /** The code of the machines has changed; without files somebody pressed a key. */
  | { readonly kind: 'changed'; readonly files: readonly string[] }
  /** The pod cannot begin with the new code, and goes on as it was; `count` others have it. */
  | {
      readonly kind: 'kept';
      readonly pod: string;
      readonly why: string;
      readonly count: number;
    }
  | { readonly kind: 'reloaded'; readonly pods: number; readonly afterMs: number }
  /** Everything the pod had in hand is in other hands: it may come back. */
  | { readonly kind: 'rescued'; readonly name: string; readonly afterMs: number }
  | ({ readonly kind: 'verified' } & Verdict);

const OUTCOME: Record<Outcome, string> = {
  completed: 'completed',
  handedOff: 'handed off',
  exhausted: 'failed',
  aborted: 'aborted',
  timedOut: 'timed out',
  cancelled: 'cancelled',
};

/** A line for the event; undefined where it is not worth one. */
export function tellEvent(event: DevEvent, id: (run: string) => string): string | undefined {
  switch (event.kind) {
    case 'started':
    case 'claimed':
    case 'begun':
    case 'settled':
    case 'waiting':
      return undefined;
    case 'changed':
      return `${whatChanged(event.files)}: it goes to the pods, one after the other`;
    case 'kept': {
      const who =
        event.count === 0 ? 'the pods go on as they were' : `${event.pod} goes on as it was`;
      // What matters stands first: a line that is too long is cut at its end.
      return `not deployed, ${who}: ${plain(event.why).replaceAll(`${process.cwd()}${sep}`, '')}`;
    }
    case 'reloaded':
      return `all ${event.pods} pods have the new code after ${showDuration(event.afterMs)}`;
    case 'handedOver':
      return `${event.by} has drained (process ${event.pid}); process ${event.to} takes over`;
    case 'ready':
      return `${event.by} up after ${showDuration(event.elapsedMs)} (process ${event.pid})`;
    case 'killed':
      return `${event.name} killed with SIGKILL (process ${event.pid}), ${inHand(event.holds)}`;
    case 'takenOver': {
      const where = event.state === undefined ? 'from its beginning' : `at ${event.state}`;
      const after = showDuration(event.afterMs);
      const run = `${id(event.run)} ${event.machine}`;
      return `${run} taken over by ${event.by} from ${event.from} ${where}, after ${after}`;
    }
    case 'rescued':
      return `nothing of ${event.name} is left after ${showDuration(event.afterMs)}: it comes back`;
    case 'verified':
      return verdictText(event);
    case 'died': {
      const again =
        event.againInMs === undefined ? '' : `, starting again in ${showDuration(event.againInMs)}`;
      return `${event.by} is gone (${event.how})${again}`;
    }
    case 'resumed':
      return `${id(event.run)} ${event.machine} resumed by ${event.by} at ${event.state}`;
    case 'finished': {
      const why = event.reason ? `: ${plain(event.reason)}` : '';
      const took = showDuration(event.elapsedMs);
      return (
        `${id(event.run)} ${event.machine} ${OUTCOME[event.outcome]} on ${event.by} ` +
        `at ${event.state} after ${took}${why}`
      );
    }
    case 'refused':
      return `${event.by} cannot begin: ${plain(event.error.message)}`;
    default:
      return assertNever(event);
  }
}

/** What one looks for after a kill stands out; the rest is there to be read again. */
export function styleOfEvent({ kind }: DevEvent): Style {
  switch (kind) {
    case 'killed':
    case 'died':
    case 'kept':
    case 'refused':
      return 'red';
    case 'takenOver':
      return 'magenta';
    case 'ready':
    case 'rescued':
    case 'reloaded':
      return 'green';
    case 'changed':
      return 'cyan';
    default:
      return 'gray';
  }
}

function inHand(count: number): string {
  return count === 1 ? '1 run in hand' : `${count} runs in hand`;
}

/** Paths as one would type them here; of many, the first. */
function whatChanged(files: readonly string[]): string {
  const [first] = files;
  if (first === undefined) return 'a handover is wanted';
  const rest = files.length > 1 ? ` and ${files.length - 1} more` : '';
  const here = relative(process.cwd(), first);
  return `${plain(here)}${rest} changed`;
}
