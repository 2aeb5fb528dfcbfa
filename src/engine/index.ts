/** The loop that executes runs: a phase, a transition, a record. */
export { type DrainReport, Engine, type EngineOptions } from './engine.ts';
export {
  DrainingError,
  InterruptedError,
  KeyConflictError,
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
export type { Around } from './perform.ts';
export { idempotencyKey } from './phase-context.ts';
export { type RunStatus, type RunSummary, summarise } from './summary.ts';
export { parseOutput } from './view.ts';
