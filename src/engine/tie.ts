/**
 * What binds a run to whoever gave it to this engine. A run that was started here has none. The engine
 * asks before it begins a phase, and tells what became of the run; what lies behind it knows.
 */
import type { Json } from '../ground/index.ts';
import type { Ending, Plan, StoreTx } from '../machine/index.ts';

/** A record as the journal wrote it. */
export interface WrittenRecord {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly event: string;
  readonly state: string;
  /** What the codec made of the event. */
  readonly data: string;
  readonly hash: string;
}

/** A transaction of whoever gave the run: what one phase writes in it stands with that phase's record. */
export interface PhaseTx {
  /** What the handler gets. */
  readonly handle: StoreTx;
  /** Whether the handler has written, or read, anything in it. */
  readonly isUsed: boolean;
  /** Takes everything back; nothing where it has been committed. */
  abandon(): void;
}

export interface Tie {
  readonly generation: number;
  /** Rises whenever another owner takes the run: the fencing token of its handlers. */
  readonly epoch: number;
  /** Part of idempotency keys; rises when the run is to do everything anew. */
  readonly keyGeneration: number;
  /** Nothing is told or asked any more; a later tie may bind the same run. */
  readonly isOver: boolean;
  /** Whether a phase may begin now; one of a run that may go on alone for so long, later than others. */
  isCurrent(aloneMs?: number): boolean;
  /** Resolves when that is so again, with false where the run is no longer ours. */
  whenCurrent(): Promise<boolean>;
  /** The run stands under this version by its records: by those it came with, or by the next one. */
  standsUnder(version: number): void;
  /** A record is durable here. */
  recorded(record: WrittenRecord): void;
  /** Resolves when what was recorded so far is durable elsewhere too, or the run is not ours. */
  flushed(): Promise<void>;
  /** A transaction for the phase that begins now; it costs nothing until it is used. */
  begin?(): PhaseTx;
  /**
   * Makes what was written in it, this record, and the end that it leads to, final: all or nothing.
   * 'lost' where the run is no longer ours. Rejects where nothing of it has happened, nor will.
   */
  commit?(
    tx: PhaseTx,
    record: WrittenRecord,
    ending: Ending | undefined,
  ): Promise<'stood' | 'lost'>;
  /** False where whoever wants the run allows it no further failure, whatever its machine says. */
  mayRetry?(): boolean;
  /** The run has ended, and its last record is durable here. */
  ended(ending: Ending): void;
  /** The run waits for longer than it may keep its place. */
  parked(reason: 'sleep' | 'retry' | 'throttle', afterMs: number): void;
  /** This process is on its way out, and the run stands between two phases. */
  released(): void;
  /** No version that is here goes on with the run, or no key opens it; one that is elsewhere may. */
  blocked(reason: string, waitsFor?: 'key'): void;
  /** The run cannot be gone on with here. */
  quarantined(reason: string): void;
}

/** Whoever shows a run that was started here to others: it is told, and never asked. */
export interface Shadow {
  standsUnder(version: number): void;
  recorded(record: WrittenRecord): void;
  ended(ending: Ending): void;
}

/** What a run that comes from elsewhere brings along, besides its tie. */
export interface Carried {
  readonly input: Json;
  readonly key: string | undefined;
  /** What is left of its time; counted from now by this process's clock. */
  readonly deadlineMs: number | undefined;
}

/** Nobody may count on this process any more, nor does its machine let the run go on alone. */
export function isCutOff({
  tie,
  plan,
}: {
  readonly tie?: Tie | undefined;
  readonly plan: Pick<Plan, 'autonomousMs'>;
}): boolean {
  return tie !== undefined && !tie.isCurrent(plan.autonomousMs);
}
