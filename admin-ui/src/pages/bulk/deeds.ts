/** What can be done to many runs at once, by whom, and what says the same at a command line. Pure. */
import type { Role } from '../../services/types.ts';

export const DEED_NAMES = [
  ...(['redrive', 'retry', 'pause', 'resume'] as const),
  ...(['reschedule', 'cancel', 'discard'] as const),
];
export type DeedName = (typeof DEED_NAMES)[number];

export interface Deed {
  readonly label: string;
  readonly role: Role;
  readonly about: string;
  readonly isDestructive?: boolean;
}

export const DEEDS: Record<DeedName, Deed> = {
  redrive: {
    label: 'Redrive',
    role: 'operate',
    about: 'A new generation of each goes on from the step in which it ended.',
  },
  retry: {
    label: 'Retry now',
    role: 'operate',
    about: 'Those that wait go on now, and not when their wait is over.',
  },
  pause: {
    label: 'Pause',
    role: 'operate',
    about: 'Nobody goes on with them until they are resumed.',
  },
  resume: { label: 'Resume', role: 'operate', about: 'Lets those that are paused go on.' },
  reschedule: { label: 'Reschedule', role: 'operate', about: 'Changes when they are due.' },
  cancel: {
    label: 'Cancel',
    role: 'operate',
    about: 'Ends them. Where a pod is at one, it ends between two phases.',
    isDestructive: true,
  },
  discard: {
    label: 'Discard',
    role: 'admin',
    about: 'Puts dead letters away: kept until retention, listed no longer.',
    isDestructive: true,
  },
};

/** What a person has filled in, as it was typed. */
export interface Filled {
  readonly what: DeedName;
  readonly rate: string;
  readonly limit: string;
  readonly reason: string;
  readonly runAt: string;
  readonly isFresh: boolean;
}

export const RATE_MAX = 5_000;
export const LIMIT_MAX = 1_000_000_000;
/** Above this, whoever ends runs for good types how many there are. */
export const TYPED_ABOVE = 100;
/** So many fit into a filter one by one. */
export const PICKED_MAX = 70;

/** Nobody asks for everything without saying so. */
export const EVERYTHING = 'is:finished,unfinished';

/** Those that were picked one by one, as a filter. */
export function filterOfIds(ids: Iterable<string>): string {
  return `id:${[...ids].join(',')}`;
}

/** Which field is wrong, and what it wants. */
export function wrongOf({ rate, limit }: Filled): string | undefined {
  const isWhole = (text: string, max: number) =>
    /^\d{1,10}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= max;
  if (!isWhole(rate, RATE_MAX)) return `The rate must be a whole number, 1 to ${RATE_MAX}.`;
  if (limit.trim() !== '' && !isWhole(limit, LIMIT_MAX)) return 'The limit must be a whole number.';
  return undefined;
}

export function bodyOf(filled: Filled, filter: string): Readonly<Record<string, unknown>> {
  const { what, rate, limit, reason, runAt, isFresh } = filled;
  return {
    what,
    filter,
    rate: Number(rate),
    ...(limit.trim() === '' ? {} : { limit: Number(limit) }),
    ...(what === 'cancel' && reason !== '' ? { reason } : {}),
    ...(what === 'reschedule' ? { runAt } : {}),
    ...(what === 'redrive' && isFresh ? { isFresh: true } : {}),
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function commandOf(filled: Filled, filter: string): string {
  const { what, rate, limit, reason, runAt, isFresh } = filled;
  const parts = ['fleetq bulk begin', what, quoted(filter), '--rate', `${rate}/s`];
  if (limit.trim() !== '') parts.push('--limit', limit.trim());
  if (what === 'cancel' && reason !== '') parts.push('--reason', quoted(reason));
  if (what === 'reschedule') parts.push('--run-at', quoted(runAt));
  if (what === 'redrive' && isFresh) parts.push('--fresh');
  return parts.join(' ');
}
