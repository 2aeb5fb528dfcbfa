/** The words of the shared tables: who a pod is, what a task can be, and what a claim on it is. */
import type { RunId } from '../ground/index.ts';

/** One process incarnation: an id for ever its own. */
export type PodId = string & { readonly '~brand': 'PodId' };

/** `dead` is the fence and comes first; `down` means nothing is left and comes last. Never back. */
export type PodStatus = 'up' | 'draining' | 'dead' | 'down';

export type TaskStatus = 'pending' | 'waiting' | 'claimed' | 'completed' | 'failed' | 'cancelled';
export type EndStatus = 'completed' | 'failed' | 'cancelled';
export const END_STATUSES: readonly EndStatus[] = ['completed', 'failed', 'cancelled'];

export function isOpen(status: TaskStatus): boolean {
  return !(END_STATUSES as readonly string[]).includes(status);
}

/** States of a run whose records tell its end. Its row follows when its owner, or the next, says so. */
export const ENDED_STATES: readonly string[] = ['completed', 'handedOff', 'failed', 'cancelled'];

/** What a task that is `waiting` waits for. */
export type WaitFor =
  | 'time'
  | 'retry'
  | 'sleep'
  | 'signal'
  | 'children'
  | 'run'
  | 'throttle'
  | 'turn'
  | 'host'
  | 'version'
  | 'key';

/**
 * How its last owner may have been inside a phase of it. `cut`: it died, and an attempt is counted.
 * `left`: it ended by its own word and still held the task, which costs nothing. Either way `check` is
 * asked before the phase is done again.
 */
export type Interruption = 'cut' | 'left';

/** The right to execute a task: (task, epoch) has one owner, ever. */
export interface Claim {
  readonly task: RunId;
  readonly generation: number;
  readonly epoch: number;
}

/** From this many deaths of its owner on, a task runs in a process of its own. */
export const SUSPECT_CRASHES = 2;
/** At this many it is failed: so a poison task takes at most three processes with it. */
export const CRASHES_MAX = 3;

/** Machines whose names begin like this recover the fleet; a dead leader's are not resumed. */
export const RECOVERY_PREFIX = 'recovery/';

/** Works off what people do to many tasks at once; any pod goes on with a run of it. */
export const BULK_MACHINE = 'fleet/bulk';

/** Machines of the fleet itself, which nobody deploys: people see what they do, and not them. */
export function isOwnMachine(nameOrRoute: string): boolean {
  return nameOrRoute.startsWith(RECOVERY_PREFIX) || nameOrRoute.split('@')[0] === BULK_MACHINE;
}

/** What runs on a pod: the machine and the version, as one text. */
export function routeOf(task: { readonly machine: string; readonly version: number }): string {
  return `${task.machine}@${task.version}`;
}
