/** What can go wrong between a pod and the shared tables. */
import { FleetqError } from '../ground/index.ts';

/** The store did not answer, or not in time: whether the statement took effect is not known. */
export class StoreUnreachableError extends FleetqError {
  readonly code = 'FLEETQ_STORE_UNREACHABLE';
  readonly verdict = 'retry';
}

/** The store gave way to a rival statement; the same statement may be sent again. */
export class StoreBusyError extends FleetqError {
  readonly code = 'FLEETQ_STORE_BUSY';
  readonly verdict = 'retry';
}

/** A write was meant for the server before this one: what that had said is looked up here first. */
export function storeMoved(): StoreBusyError {
  return new StoreBusyError('another server of the store has taken over', {
    hint: 'nothing to do: pods write again once they have looked up there what they were told',
  });
}

/** The tables are missing, older or newer than this program knows. */
export class StoreSchemaError extends FleetqError {
  readonly code = 'FLEETQ_STORE_SCHEMA';
  readonly verdict = 'abort';
}

/** The store's address or options make no sense. */
export class StoreOptionsError extends FleetqError {
  readonly code = 'FLEETQ_STORE_OPTIONS';
  readonly verdict = 'abort';
}

/** The store refused a statement for what it says; sending it again will not help. */
export class StoreRefusedError extends FleetqError {
  readonly code = 'FLEETQ_STORE_REFUSED';
  readonly verdict = 'abort';
}

/** The transaction that was given cannot be used for this: it is none, over, or of another database. */
export class TransactionError extends FleetqError {
  readonly code = 'FLEETQ_TRANSACTION';
  readonly verdict = 'abort';
}

/**
 * A persist had the file to itself for too long, and it was taken back. That may be its author's doing, or
 * that of a process that was stopped for a while: only trying again tells, so it costs an attempt.
 */
export class TransactionLateError extends FleetqError {
  readonly code = 'FLEETQ_TRANSACTION_LATE';
  readonly verdict = 'retry';
  constructor(openMsMax: number) {
    super(`persist had the file to itself for more than ${openMsMax} ms`, {
      hint: 'do what takes time in work, and give every enqueue in persist its tx',
    });
  }
}

/** A request id stands for one thing, and something else was asked under it. */
export class RequestReusedError extends FleetqError {
  readonly code = 'FLEETQ_REQUEST_REUSED';
  readonly verdict = 'abort';
  constructor(requestId: string, was: string) {
    super(`the request id ${requestId} stands for: ${was}`, { hint: 'use a new one' });
  }
}

/** A page was asked for after a place that is in no list, or in another one. */
export class CursorError extends FleetqError {
  readonly code = 'FLEETQ_BAD_CURSOR';
  readonly verdict = 'abort';
  constructor(message: string) {
    super(message, { hint: 'ask for the first page, without a cursor, and go on from there' });
  }
}
