/** What can go wrong between a command line and its answer. */
import { FleetqError } from '../ground/index.ts';

/** The command line asks for something that cannot be. */
export class UsageError extends FleetqError {
  readonly code = 'FLEETQ_USAGE';
  readonly verdict = 'abort';
}

/** A file that should hold an exported run does not, or was changed since. */
export class RunFileError extends FleetqError {
  readonly code = 'FLEETQ_RUN_FILE';
  readonly verdict = 'abort';
}

/** The fleet has no pod of that name or id. */
export class PodNotFoundError extends FleetqError {
  readonly code = 'FLEETQ_POD_NOT_FOUND';
  readonly verdict = 'abort';
}

/** No pod has called an API of that name. */
export class ApiNotFoundError extends FleetqError {
  readonly code = 'FLEETQ_API_NOT_FOUND';
  readonly verdict = 'abort';
}

/** The pod is no more: there is nothing that could drain. */
export class PodGoneError extends FleetqError {
  readonly code = 'FLEETQ_POD_GONE';
  readonly verdict = 'abort';
}

/** The process that holds the data directory does not answer, or stopped answering. */
export class UnreachableError extends FleetqError {
  readonly code = 'FLEETQ_UNREACHABLE';
  readonly verdict = 'retry';
}

/** Nobody has worked in this data directory yet. */
export class NoJournalError extends FleetqError {
  readonly code = 'FLEETQ_NO_JOURNAL';
  readonly verdict = 'abort';
  constructor(directory: string) {
    super(`there is no journal in ${directory}`, {
      hint: 'name its directory with --data-dir or FLEETQ_DATA_DIR, or begin with: fleetq dev',
    });
  }
}

/** What a running process answered instead of a result. */
export class RemoteError extends FleetqError {
  readonly code: `FLEETQ_${string}`;
  readonly verdict = 'abort';
  constructor(problem: { readonly code: string; readonly detail: string; readonly hint?: string }) {
    super(problem.detail, { hint: problem.hint });
    this.code = problem.code as `FLEETQ_${string}`;
  }
}

/** A task that has not failed, or that somebody has put away. */
export class NoDeadLetterError extends FleetqError {
  readonly code = 'FLEETQ_NO_DEAD_LETTER';
  readonly verdict = 'abort';
}
