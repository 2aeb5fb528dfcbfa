/** The loop that executes runs: a phase, a transition, a record. */
export { isFaultOfRun } from './blame.ts';
export type { CancelReport } from './canceller.ts';
export { Caretaker } from './caretaker.ts';
export { Engine } from './engine.ts';
export {
  DrainingError,
  KeyConflictError,
  NeedsStoreError,
  PhaseAnswerError,
  PhaseTimeoutError,
  RunAbortedError,
  RunCancelledError,
  RunEndedError,
  RunFailedError,
  RunNotFoundError,
  RunSetAsideError,
  RunTimedOutError,
  TooManyRunsError,
  WaitTimeoutError,
} from './errors.ts';
export { factsOfRun } from './facts.ts';
export { type Fate, fateOf, forecastBeginning, type HeirPorts } from './heir.ts';
export { Holder } from './holder.ts';
export { type InHand, Inspector } from './inspector.ts';
export type { LiveRun } from './live-run.ts';
export { type LocalHold, type Offer, RUN_MS_MAX } from './offer.ts';
export type { DrainReport, EngineOptions } from './options.ts';
export type { Around } from './phase-call.ts';
export { idempotencyKey } from './phase-context.ts';
export { resultOf, untilOf } from './result.ts';
export { type RunStatus, type RunSummary, STATUS_OF_OUTCOME, summarise } from './summary.ts';
export type { PhaseTx, Shadow, Tie, WrittenRecord } from './tie.ts';
