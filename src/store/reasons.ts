/**
 * What the store itself writes as the error of a task that it ends without an owner. One wording for
 * every adapter, so that people and programs find the same code whichever store they use.
 */
import { CRASHES_MAX } from './words.ts';

function reason(code: `FLEETQ_${string}`, message: string): string {
  return JSON.stringify({ code, message });
}

export const RETRIES_SPENT = reason(
  'FLEETQ_RETRIES_SPENT',
  'it failed more often than whoever enqueued it allows',
);

export const FOLLOWED_NOT_COMPLETED = reason(
  'FLEETQ_FOLLOWED_NOT_COMPLETED',
  'the run that it was to follow was cancelled, discarded or removed, and will never complete',
);

export const CRASH_LOOP = reason(
  'FLEETQ_CRASH_LOOP',
  `its process died ${CRASHES_MAX} times while it ran, without one step completed between`,
);

export const LEADER_DIED = reason(
  'FLEETQ_LEADER_DIED',
  'the pod that ran this recovery died; whoever leads next starts its own',
);

export const MACHINE_UNKNOWN = reason(
  'FLEETQ_MACHINE_UNKNOWN',
  'no pod has ever had its machine; check the name, then redrive it',
);

export const ID_MALFORMED = reason(
  'FLEETQ_ID_MALFORMED',
  'its task_id is neither a ULID nor a lower-case UUID; leave the column to its default',
);

export const DEADLINE_PASSED = reason(
  'FLEETQ_DEADLINE_PASSED',
  'its deadline passed while no live pod could run it',
);

/** A row that the tables do not let anybody claim. */
export function rowRefused(why: string): string {
  return reason('FLEETQ_ROW_REFUSED', `the row cannot be claimed: ${why}`);
}

/** A cancellation, with what the person who asked for it said. */
export function cancelledBecause(said: string): string {
  return reason('FLEETQ_CANCELLED', said);
}

/** Records of a task that retention, or a person, has removed: nobody would ever read them. */
export function noTask(task: string): string {
  return `there is no task ${task} any more`;
}

/** ULID (26 characters of Crockford's base 32) or lower-case UUID: what a task_id may look like. */
export const TASK_ID_PATTERN =
  '^([0-7][0-9A-HJKMNP-TV-Z]{25}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$';
