/**
 * The trace of a run as data: what its records tell of who was at it when, and what came of it. Attempts
 * and waits lie end to end from the start to the end, or to now; marks stand between them.
 *
 *   STARTED                                                                              the end
 *     ├ attempt ┤ attempt, crashed ┤ ▲ taken ├ probe ┤ attempt, retried ┤ wait ┤ attempt ┤
 *
 * The journal has no record of the moment in which a phase is called: an attempt begins with the record,
 * or the due time, after which nothing stood in its way but a free slot.
 */
import type { Outcome, PastRecord, Phase } from '../machine/index.ts';
import type { PhaseOutcome } from './events.ts';

/** A record, as far as its trace goes. */
export interface TracedRecord extends PastRecord {
  readonly epoch: number;
}

/** Whose hands it was in. */
export interface Owner {
  readonly epoch: number;
  /** Undefined of a run that no store knows, and where the records do not say it. */
  readonly pod: string | undefined;
  readonly version: number;
}

export type AttemptOutcome =
  | Exclude<PhaseOutcome, 'discarded'>
  | 'cancelled'
  /** Its process died in it. */
  | 'crashed'
  /** Its process ended in order, and could not wait for it. */
  | 'drained'
  /** A sleep that a newer version has no use for. */
  | 'upgraded'
  /** It is what comes next, or is under way: the records cannot tell which. */
  | 'open';

export interface Attempt extends Owner {
  readonly kind: 'attempt';
  readonly step: string;
  readonly phase: Phase | 'probe' | 'sleep';
  readonly attempt: number;
  readonly beganAt: number;
  readonly endedAt: number | undefined;
  /** The record after which it could begin, and the one that tells what came of it. */
  readonly beganSeq: number;
  readonly endedSeq: number | undefined;
  /** False where another process has gone on with the run since the last record, at an unknown time. */
  readonly isBeginKnown: boolean;
  /** False where only whoever came next tells that it had ended, some time before. */
  readonly isEndKnown: boolean;
  readonly outcome: AttemptOutcome;
  /** Of a sleep. */
  readonly dueAt: number | undefined;
  /** What was thrown, without its words: these may hold anything. */
  readonly error: { readonly name: string; readonly code?: string | undefined } | undefined;
}

export interface Wait {
  readonly kind: 'wait';
  readonly step: string;
  /** For its next attempt, as `retryAfter` wants it, or for a process that goes on with it. */
  readonly why: 'retry' | 'postponed' | 'process';
  readonly beganAt: number;
  readonly endedAt: number | undefined;
  readonly beganSeq: number;
  readonly dueAt: number | undefined;
}

/** The run came into other hands, or under another version. */
export interface Mark extends Owner {
  readonly kind: 'mark';
  readonly step: string;
  readonly what: 'taken' | 'restarted' | 'advanced' | 'upgraded';
  readonly at: number;
  readonly seq: number;
  readonly from: Owner;
}

export type Span = Attempt | Wait;
export type TraceItem = Span | Mark;

export interface Trace {
  readonly machine: string;
  /** By its last record. */
  readonly version: number;
  readonly generation: number | undefined;
  readonly startedAt: number;
  /** When it ended; of one that has not, the time that was given as now. */
  readonly until: number;
  readonly items: readonly TraceItem[];
  readonly end:
    | { readonly outcome: Outcome; readonly state: string; readonly seq: number }
    | undefined;
}

export interface TraceTotals {
  readonly totalMs: number;
  readonly workingMs: number;
  /** Asleep, before another attempt, and while no process had it. */
  readonly waitingMs: number;
  /** In attempts that nobody ended, from their begin until that was noticed. */
  readonly lostMs: number;
}

export function totalsOf({ items, startedAt, until }: Trace): TraceTotals {
  let [workingMs, waitingMs, lostMs] = [0, 0, 0];
  for (const item of items) {
    if (item.kind === 'mark') continue;
    const ms = (item.endedAt ?? until) - item.beganAt;
    if (item.kind === 'wait') waitingMs += ms;
    else if (!item.isEndKnown) lostMs += ms;
    else if (item.phase === 'sleep') waitingMs += ms;
    else workingMs += ms;
  }
  return { totalMs: until - startedAt, workingMs, waitingMs, lostMs };
}
