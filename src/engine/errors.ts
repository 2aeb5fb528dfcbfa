/** What can be said of a run, or of an engine, that is not a result. */
import { type ErrorInfo, FleetqError, type RunId } from '../ground/index.ts';
import type { AbortKind, Outcome } from '../machine/index.ts';

/** Nobody knows a run of that id: it was never started here, or retention has removed it. */
export class RunNotFoundError extends FleetqError {
  readonly code = 'FLEETQ_RUN_NOT_FOUND';
  readonly verdict = 'abort';
  constructor(run: string) {
    super(`there is no run ${run}`, { hint: 'list runs with: fleetq runs' });
  }
}

/** The machine persists in the store, and this run has no claim there that could be fenced. */
export class NeedsStoreError extends FleetqError {
  readonly code = 'FLEETQ_NEEDS_STORE';
  readonly verdict = 'abort';
  constructor(machine: string, step: string) {
    super(`step ${step} of ${machine} persists in the store, and a local run has none`, {
      hint: 'give it to the fleet with enqueue, or leave persistIn away',
    });
  }
}

/** A run that did not end well. One class per outcome below. */
export abstract class RunEndedError extends FleetqError {
  readonly verdict = 'abort';
  abstract readonly outcome: Outcome;
  readonly runId: RunId;
  /** The phase in which it ended. */
  readonly state: string;
  constructor(run: RunId, state: string, message: string, cause?: ErrorInfo) {
    super(message, cause ? { cause } : {});
    this.runId = run;
    this.state = state;
  }
}

/** Every attempt failed. */
export class RunFailedError extends RunEndedError {
  readonly code = 'FLEETQ_RUN_FAILED';
  readonly outcome = 'exhausted';
  readonly error: ErrorInfo | undefined;
  constructor(run: RunId, state: string, error: ErrorInfo | undefined) {
    super(run, state, `run ${run} failed in ${state}: ${error?.message ?? 'unknown'}`, error);
    this.error = error;
  }
}

/** The machine gave the run up. */
export class RunAbortedError extends RunEndedError {
  readonly code = 'FLEETQ_RUN_ABORTED';
  readonly outcome = 'aborted';
  readonly kind: AbortKind;
  readonly reason: string;
  constructor(run: RunId, state: string, reason: string, kind: AbortKind) {
    super(run, state, `run ${run} was aborted (${kind}) in ${state}: ${reason}`);
    this.reason = reason;
    this.kind = kind;
  }
}

/** The run's own deadline passed. */
export class RunTimedOutError extends RunEndedError {
  readonly code = 'FLEETQ_RUN_TIMED_OUT';
  readonly outcome = 'timedOut';
  constructor(run: RunId, state: string, error: ErrorInfo | undefined) {
    super(run, state, `run ${run} passed its deadline in ${state}`, error);
  }
}

/** Somebody cancelled it. */
export class RunCancelledError extends RunEndedError {
  readonly code = 'FLEETQ_RUN_CANCELLED';
  readonly outcome = 'cancelled';
  readonly reason: string;
  constructor(run: RunId, state: string, reason: string) {
    super(run, state, `run ${run} was cancelled in ${state}: ${reason}`);
    this.reason = reason;
  }
}

/** The key was used before, for another input. */
export class KeyConflictError extends FleetqError {
  readonly code = 'FLEETQ_KEY_CONFLICT';
  readonly verdict = 'abort';
  constructor(machine: string, key: string, run: RunId) {
    super(
      `the key ${JSON.stringify(key)} of ${machine} belongs to run ${run}, which has another input`,
      {
        hint: 'use a key that names the input, or another key',
      },
    );
  }
}

/** The process is on its way out and takes no new runs. */
export class DrainingError extends FleetqError {
  readonly code = 'FLEETQ_DRAINING';
  readonly verdict = 'retry';
  constructor() {
    super('this process is draining and starts no new runs', {
      hint: 'start the run elsewhere, or later',
    });
  }
}

/** There are as many unfinished runs in memory as this process may hold. */
export class TooManyRunsError extends FleetqError {
  readonly code = 'FLEETQ_TOO_MANY_RUNS';
  readonly verdict = 'retry';
  constructor(countMax: number) {
    super(`${countMax} unfinished runs are in hand, which is the limit`, {
      hint: 'wait for some to end, or raise activeRunsMax',
    });
  }
}

/** A phase took longer than its timeout. */
export class PhaseTimeoutError extends FleetqError {
  readonly code = 'FLEETQ_PHASE_TIMEOUT';
  readonly verdict = 'retry';
  constructor(state: string, timeoutMs: number) {
    super(`${state} took longer than its timeout of ${timeoutMs} ms`);
  }
}

/** What a handler gave back is not what its phase may give back. */
export class PhaseAnswerError extends FleetqError {
  readonly code = 'FLEETQ_PHASE_ANSWER';
  readonly verdict = 'abort';
}

/** Waiting for a result took longer than the caller wanted to wait; the run goes on. */
export class WaitTimeoutError extends FleetqError {
  readonly code = 'FLEETQ_WAIT_TIMEOUT';
  readonly verdict = 'retry';
  constructor(run: RunId) {
    super(`run ${run} has not ended yet`, { hint: 'it goes on; ask again later' });
  }
}

/** The run stands still and cannot be acted on here. */
export class RunSetAsideError extends FleetqError {
  readonly code = 'FLEETQ_RUN_SET_ASIDE';
  readonly verdict = 'abort';
  constructor(run: RunId, status: 'blocked' | 'quarantined', reason: string) {
    super(`run ${run} is ${status}: ${reason}`, {
      hint:
        status === 'blocked'
          ? 'start a process that has this machine and version'
          : `see why with: fleetq run ${run}; check the file with: fleetq journal verify`,
    });
  }
}
