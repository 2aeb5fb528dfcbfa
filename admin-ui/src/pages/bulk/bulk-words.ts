/** What bulk operations are called, and how their counts add up. Pure. */
import { showSpan } from '../../format/time.ts';
import type { Bulk, BulkStatus } from '../../services/many.ts';
import { DEEDS, type Deed } from './deeds.ts';

export const STATUS_LABEL: Record<BulkStatus, string> = {
  running: 'Running',
  pausing: 'Pausing',
  paused: 'Paused',
  cancelling: 'Cancelling',
  cancelled: 'Cancelled',
  completed: 'Completed',
};

export type Tint = 'ok' | 'run' | 'wait' | 'off' | 'bad';

export const STATUS_TINT: Record<BulkStatus, Tint> = {
  running: 'run',
  pausing: 'wait',
  paused: 'wait',
  cancelling: 'off',
  cancelled: 'off',
  completed: 'ok',
};

export function isOver({ status }: Pick<Bulk, 'status'>): boolean {
  return status === 'completed' || status === 'cancelled';
}

/** Whether its counts may change while one looks on. */
export function isMoving(bulk: Bulk): boolean {
  return !isOver(bulk) && bulk.status !== 'paused';
}

export const OUTCOMES = ['done', 'requested', 'already', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const OUTCOME_LABEL: Record<Outcome, string> = {
  done: 'Done',
  requested: 'Requested',
  already: 'Already so',
  refused: 'Refused',
};

export const OUTCOME_ABOUT: Record<Outcome, string> = {
  done: 'they are as asked',
  requested: 'a pod holds them, and will see to it',
  already: 'they were as asked before',
  refused: 'nothing was changed',
};

type Counts = Pick<Bulk, Outcome>;

export function actedOn({ done, requested, already, refused }: Counts): number {
  return done + requested + already + refused;
}

/** How wide each outcome is, of a whole of one; what is left has the rest. */
export function sharesOf(
  bulk: Counts & Pick<Bulk, 'expected' | 'status'>,
): Record<Outcome, number> {
  const acted = actedOn(bulk);
  const all = isOver(bulk) ? Math.max(acted, 1) : Math.max(bulk.expected ?? 0, acted, 1);
  const share = (outcome: Outcome) => bulk[outcome] / all;
  return {
    done: share('done'),
    requested: share('requested'),
    already: share('already'),
    refused: share('refused'),
  };
}

/** In a few words, after its name. */
export function deedText({ what, deed }: Pick<Bulk, 'what' | 'deed'>): string {
  const { isFresh, due } = deed;
  const label = (DEEDS as Readonly<Record<string, Deed>>)[what]?.label ?? what;
  if (what === 'redrive' && isFresh) return `${label} from the beginning`;
  if (due?.afterMs !== undefined) return `${label} in ${showSpan(due.afterMs)}`;
  return label;
}
