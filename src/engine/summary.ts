/**
 * A run as people and programs see it, told from its records alone: the same whether it is being
 * executed, waits, has ended, or lies in a file that no machine definition belongs to.
 */
import type { ErrorInfo, Json, RunId } from '../ground/index.ts';
import { isSealedEvent, type RunRow, type StoredRecord } from '../journal/index.ts';
import {
  attemptOf,
  type Ending,
  isFinal,
  type Outcome,
  type RunEvent,
  toldEnding,
} from '../machine/index.ts';

export type RunStatus =
  | 'active'
  | 'waiting'
  | 'blocked'
  | 'quarantined'
  | 'completed'
  | 'handedOff'
  | 'failed'
  | 'cancelled';

export interface RunSummary {
  readonly id: RunId;
  readonly machine: string;
  readonly version: number;
  readonly key?: string | undefined;
  /** Where it is a task of the fleet that is held here. */
  readonly generation?: number | undefined;
  readonly status: RunStatus;
  readonly outcome?: Outcome | undefined;
  /** Where it is, or where it ended. */
  readonly state: string;
  readonly attempt: number;
  readonly seq: number;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly finishedAt?: number | undefined;
  readonly dueAt?: number | undefined;
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly input?: Json | undefined;
  readonly output?: Json | undefined;
  readonly progress?: { readonly fraction: number; readonly note: string | undefined } | undefined;
}

export const STATUS_OF_OUTCOME: Record<Outcome, RunStatus> = {
  completed: 'completed',
  handedOff: 'handedOff',
  exhausted: 'failed',
  aborted: 'failed',
  timedOut: 'failed',
  cancelled: 'cancelled',
};

/** `records` may be empty where retention has removed them from a run that has ended. */
export function summarise(row: RunRow, records: readonly StoredRecord[], now: number): RunSummary {
  const last = records.at(-1);
  const final = last && isFinal(last.state) ? last.state : undefined;
  const ending = row.ending ?? (final && endingIn(records));
  // A newer version that goes on with a run leaves it where it waits.
  const told = records.findLast(({ event }) => event.type !== 'ADVANCED')?.event;
  const dueAt = ending ? undefined : dueAtOf(told);
  return {
    id: row.id,
    machine: row.machine,
    version: row.version,
    key: row.key,
    generation: row.generation,
    status: ending
      ? STATUS_OF_OUTCOME[ending.outcome]
      : (final ?? (dueAt && dueAt > now ? 'waiting' : 'active')),
    outcome: ending?.outcome,
    state: ending?.state ?? last?.state ?? '?',
    attempt: attemptOf(records),
    seq: last?.seq ?? -1,
    startedAt: row.startedAt,
    updatedAt: last?.at ?? row.finishedAt ?? row.startedAt,
    finishedAt: row.finishedAt ?? (final && last?.at),
    dueAt,
    reason: ending?.reason ?? reasonOf(told),
    error: ending?.error ?? lastError(records),
    input: inputOf(records),
    output: ending?.output,
  };
}

/**
 * A run of the store ends in its last record, and its row stays open until the store has that. A sealed
 * record hides how the run ended, and what its output is.
 */
function endingIn(records: readonly StoredRecord[]): Ending | undefined {
  const isReadable = !records.some(({ event }) => isSealedEvent(event));
  return isReadable ? toldEnding(records) : undefined;
}

/** As it was started with, or as the last upgrade has made it. */
function inputOf(records: readonly StoredRecord[]): Json | undefined {
  const giving = records.findLast(({ event }) => 'input' in event)?.event;
  return giving && 'input' in giving ? giving.input : undefined;
}

function dueAtOf(event: RunEvent | undefined): number | undefined {
  return event && 'dueAt' in event ? event.dueAt : undefined;
}

function reasonOf(event: RunEvent | undefined): string | undefined {
  return event && 'reason' in event ? event.reason : undefined;
}

function lastError(records: readonly StoredRecord[]): ErrorInfo | undefined {
  const found = records.findLast(({ event }) => 'error' in event && event.error !== undefined);
  return found && 'error' in found.event ? found.event.error : undefined;
}
