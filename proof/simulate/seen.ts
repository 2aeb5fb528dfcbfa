/** What the auditor remembers of a task from one look to the next, and how it names what it saw. */
import type { TaskRecord } from '../../src/store/memory/tables.ts';
import type { Change } from '../history/evidence.ts';

/** What may not change just like that. */
export type Seen = Pick<
  TaskRecord,
  | 'status'
  | 'claimEpoch'
  | 'generation'
  | 'claimedBy'
  | 'lastSeq'
  | 'outcome'
  | 'result'
  | 'error'
  | 'finishedAt'
  | 'lastHash'
  | 'retryCount'
  | 'crashes'
  | 'control'
>;

export function seenOf(task: TaskRecord): Seen {
  const { status, claimEpoch, generation, claimedBy, lastSeq } = task;
  const { outcome, result, error, finishedAt, lastHash, retryCount, crashes, control } = task;
  return {
    status,
    claimEpoch,
    generation,
    claimedBy,
    lastSeq,
    outcome,
    result,
    error,
    finishedAt,
    lastHash,
    retryCount,
    crashes,
    control,
  };
}

/** Written out, since it is asked for every task after every call. */
export function isSame(a: Seen, b: Seen): boolean {
  return (
    a.status === b.status &&
    a.claimEpoch === b.claimEpoch &&
    a.generation === b.generation &&
    a.claimedBy === b.claimedBy &&
    a.lastSeq === b.lastSeq &&
    a.outcome === b.outcome &&
    a.result === b.result &&
    a.error === b.error &&
    a.finishedAt === b.finishedAt &&
    a.lastHash === b.lastHash &&
    a.retryCount === b.retryCount &&
    a.crashes === b.crashes &&
    a.control === b.control
  );
}

/** From one look to the next, in the words of the history checker. */
export function changeOf(before: Seen | undefined, now: Seen, at: number): Change {
  return {
    at,
    wasStatus: before?.status,
    status: now.status,
    wasEpoch: before?.claimEpoch ?? 0,
    epoch: now.claimEpoch,
    wasOwner: before?.claimedBy,
    owner: now.claimedBy,
    wasGeneration: before?.generation ?? now.generation,
    generation: now.generation,
    wasHash: before?.lastHash,
    hash: now.lastHash,
    wasOutcome: before?.outcome,
    outcome: now.outcome,
    wasRetries: before?.retryCount ?? 0,
    retries: now.retryCount,
    wasCrashes: before?.crashes ?? 0,
    crashes: now.crashes,
    wasControl: before?.control,
    control: now.control,
  };
}

export function endingOf({ status, outcome, result, error, finishedAt }: Seen): string {
  return `${status} (${outcome}, ${result ?? error}, ${finishedAt})`;
}

/** An answer of the store in a few words. */
export function brief(answer: unknown): string {
  if (Array.isArray(answer)) {
    const items = answer.slice(0, 4).map((item) => briefItem(item as Record<string, unknown>));
    return `${answer.length}${items.length > 0 ? `: ${items.join(', ')}` : ''}`;
  }
  // How it is written is up to whatever translates it, and no part of what happens.
  if (typeof answer === 'function') return 'a function';
  return typeof answer === 'object' ? briefItem(Object(answer)) : String(answer);
}

function briefItem(item: Readonly<Record<string, unknown>>): string {
  const id = String(item.task ?? item.id ?? item.pod ?? '').slice(-6);
  const word = item.kind ?? item.status ?? (item.epoch === undefined ? '' : `e${item.epoch}`);
  return `${id} ${word}`.trim();
}
