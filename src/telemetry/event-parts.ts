/** What events tell of runs, phases, records and tasks. */
import type { RunId } from '../ground/index.ts';
import type { Phase, RunEvent } from '../machine/index.ts';

export interface OfRun {
  readonly run: RunId;
  readonly machine: string;
  readonly version: number;
  /** Of the owner that does it; undefined where that is not known. */
  readonly epoch?: number | undefined;
}
export interface OfPhase extends OfRun {
  readonly step: string;
  readonly phase: Phase | 'probe';
  readonly attempt: number;
}
/** A record as the journal has it. */
export interface PastRecord {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly event: RunEvent;
  /** Where the run is after it. */
  readonly state: string;
  readonly hash: string;
}
/** Where a run stands, and in which of its lives; a run that was started here has no generation. */
export interface Standing {
  readonly generation: number | undefined;
  readonly epoch: number;
  readonly seq: number;
  readonly hash: string;
}
/** A task that something was done to, with its generation. */
export interface TouchedTask {
  readonly run: RunId;
  readonly generation: number;
}
export interface RescuedTask extends TouchedTask {
  readonly machine: string;
  readonly version: number;
  readonly status: string;
  readonly outcome: string | undefined;
  /** Whether somebody has had it before. */
  readonly hasBegun: boolean;
}
export type PhaseOutcome =
  | 'done'
  | 'handedOff'
  | 'retried'
  | 'postponed'
  | 'exhausted'
  | 'aborted'
  | 'timedOut'
  | 'discarded';

/** What a call of the store came to, in a word: for figures, which know no messages. */
export type StoreFailure = 'unreachable' | 'busy' | 'refused' | 'schema' | 'options' | 'other';
