/** What the auditor remembers of a task from one look to the next, and how it names what it saw. */
import type { TaskRecord } from '../../src/store/memory/tables.ts';

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
>;

export function seenOf(task: TaskRecord): Seen {
  const { status, claimEpoch, generation, claimedBy, lastSeq } = task;
  const { outcome, result, error, finishedAt } = task;
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
    a.finishedAt === b.finishedAt
  );
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
  return typeof answer === 'object' ? briefItem(Object(answer)) : String(answer);
}

function briefItem(item: Readonly<Record<string, unknown>>): string {
  const id = String(item.task ?? item.id ?? item.pod ?? '').slice(-6);
  const word = item.kind ?? item.status ?? (item.epoch === undefined ? '' : `e${item.epoch}`);
  return `${id} ${word}`.trim();
}
