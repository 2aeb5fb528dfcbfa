/** What can be done to a run, by whom, and what says the same at a command line. Pure. */
import { hasEnded } from '../../format/words.ts';
import type { Role, Run } from '../../services/types.ts';

export const ACT_NAMES = [
  ...(['retry', 'pause', 'resume', 'reschedule'] as const),
  ...(['redrive', 'fork', 'cancel', 'discard'] as const),
];
export type ActName = (typeof ACT_NAMES)[number];

export interface Act {
  readonly label: string;
  readonly role: Role;
  readonly about: string;
  readonly isDestructive?: boolean;
  /** Why it makes no sense now; undefined where it does. */
  whyNot(run: Run): string | undefined;
}

const ended = (run: Run) => (hasEnded(run) ? 'it has ended' : undefined);
const unfinished = (run: Run) => (hasEnded(run) ? undefined : 'it has not ended');
const inHand = (run: Run) => (run.status === 'claimed' ? 'a pod has it in hand' : undefined);

export const ACTS: Record<ActName, Act> = {
  retry: {
    label: 'Retry now',
    role: 'operate',
    about: 'It goes on now, and not when its wait is over.',
    whyNot: (run) => ended(run) ?? (run.status === 'waiting' ? undefined : 'it does not wait'),
  },
  pause: {
    label: 'Pause',
    role: 'operate',
    about: 'Nobody goes on with it until it is resumed. A phase in hand is finished first.',
    whyNot: (run) => ended(run) ?? (run.isPaused ? 'it is paused' : undefined),
  },
  resume: {
    label: 'Resume',
    role: 'operate',
    about: 'Lets it go on.',
    whyNot: (run) =>
      ended(run) ?? (run.isPaused || run.control === 'pause' ? undefined : 'it is not paused'),
  },
  reschedule: {
    label: 'Reschedule',
    role: 'operate',
    about: 'Changes when it is due.',
    whyNot: (run) => ended(run) ?? inHand(run),
  },
  redrive: {
    label: 'Redrive',
    role: 'operate',
    about: 'A new generation goes on from the step in which this one ended.',
    whyNot: unfinished,
  },
  fork: {
    label: 'Fork',
    role: 'operate',
    about: 'A new run begins with the records of this one, up to a phase.',
    whyNot: (run) => ((run.seq ?? -1) < 0 ? 'nothing of it is on record yet' : undefined),
  },
  cancel: {
    label: 'Cancel',
    role: 'operate',
    about: 'Ends it. Where a pod is at it, it ends between two phases.',
    isDestructive: true,
    whyNot: ended,
  },
  discard: {
    label: 'Discard',
    role: 'admin',
    about: 'Puts a dead letter away: kept until retention, listed no longer.',
    isDestructive: true,
    whyNot: (run) =>
      run.status !== 'failed'
        ? 'it is no dead letter'
        : run.discardedAt
          ? 'it was discarded'
          : undefined,
  },
};

/** What a person has filled in. */
export interface Filled {
  readonly reason: string;
  readonly runAt: string;
  readonly from: string;
  readonly isFresh: boolean;
  /** JSON text; empty where the input stays as it is. */
  readonly input: string;
}

export function bodyOf(name: ActName, filled: Filled): Readonly<Record<string, unknown>> {
  const input = filled.input.trim() === '' ? {} : { input: JSON.parse(filled.input) as unknown };
  switch (name) {
    case 'cancel':
      return filled.reason === '' ? {} : { reason: filled.reason };
    case 'reschedule':
      return { runAt: filled.runAt };
    case 'redrive':
      return { ...(filled.isFresh ? { isFresh: true } : {}), ...input };
    case 'fork':
      return { from: filled.from, ...input };
    default:
      return {};
  }
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Undefined where no command does the same. */
export function commandOf(name: ActName, run: Run, filled: Filled): string | undefined {
  if (name === 'redrive' && filled.input.trim() !== '') return undefined;
  const verb = name === 'redrive' || name === 'discard' ? `dead-letters ${name}` : name;
  const parts = ['fleetq', verb, run.id];
  if (name === 'cancel' && filled.reason !== '') parts.push('--reason', quoted(filled.reason));
  if (name === 'reschedule') parts.push('--run-at', quoted(filled.runAt));
  if (name === 'fork') parts.push('--from', filled.from);
  if (name === 'fork' && filled.input.trim() !== '') parts.push('--input', quoted(filled.input));
  if (name === 'redrive' && filled.isFresh) parts.push('--fresh');
  if (run.revision !== undefined) parts.push('--if-revision', run.revision);
  return parts.join(' ');
}
