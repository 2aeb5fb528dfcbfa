/** What runs are called: their status as one of few kinds, and the first line of what went wrong. */
import type { Failure, Run } from '../services/types.ts';

export const KINDS = [
  ...(['pending', 'waiting', 'running', 'blocked', 'paused', 'quarantined'] as const),
  ...(['completed', 'handedOff', 'failed', 'cancelled'] as const),
];
export type Kind = (typeof KINDS)[number];

export const LABEL: Record<Kind, string> = {
  pending: 'Pending',
  waiting: 'Waiting',
  running: 'Running',
  blocked: 'Blocked',
  paused: 'Paused',
  quarantined: 'Quarantined',
  completed: 'Completed',
  handedOff: 'Handed off',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

type Standing = Pick<Run, 'status' | 'outcome' | 'isPaused' | 'blocked'>;

/** Why it stands still counts for more than what it is called. */
export function kindOf({ status, outcome, isPaused, blocked }: Standing): Kind {
  if (outcome === 'handedOff') return 'handedOff';
  if (status === 'completed' || status === 'failed' || status === 'cancelled') return status;
  if (isPaused) return 'paused';
  if (blocked !== undefined) return 'blocked';
  if (status === 'claimed' || status === 'active') return 'running';
  return (KINDS as readonly string[]).includes(status) ? (status as Kind) : 'pending';
}

/** Attempts at the phase it is at, or was at last. After the failure that was one too many, none came. */
export function triesOf({ attempt, retries = 0, outcome }: Run): number {
  return Math.max(1, attempt ?? retries + (outcome === 'exhausted' ? 0 : 1));
}

export function hasEnded(run: Pick<Run, 'finishedAt'>): boolean {
  return run.finishedAt !== undefined;
}

/** What an error says first, be it masked, a text, or an object. */
export function firstLine(error: Run['error']): string | undefined {
  if (error === undefined) return undefined;
  if (typeof error === 'string') return error.split('\n')[0];
  const said = error.message?.split('\n')[0];
  const name = error.code ?? error.name;
  if (said === undefined || said === '') return name ?? (error.isMasked ? 'masked' : undefined);
  return name && name !== 'Error' && name !== 'aborted' ? `${name}: ${said}` : said;
}

export function failureOf(error: Run['error']): Failure | undefined {
  return typeof error === 'string' ? { message: error } : error;
}

const COUNT = new Intl.NumberFormat('en');

export function showCount(count: number): string {
  return COUNT.format(count);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${showCount(count)} ${count === 1 ? one : many}`;
}

export function showBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576
    ? `${(bytes / 1_024).toFixed(1)} kB`
    : `${(bytes / 1_048_576).toFixed(1)} MB`;
}
