/** What can be wrong with a journal, each with what to do about it. */
import { FleetqError, type KeyMissingError } from '../ground/index.ts';

/** Another process holds the data directory. */
export class JournalHeldError extends FleetqError {
  readonly code = 'FLEETQ_JOURNAL_HELD';
  readonly verdict = 'retry';
  constructor(directory: string, holder: string) {
    super(`the data directory ${directory} is held by ${holder}`, {
      hint: 'stop that process, or choose another directory with --data-dir or FLEETQ_DATA_DIR',
    });
  }
}

/** Somebody else waits already for the holder of the data directory to let go. */
export class HandoverTakenError extends FleetqError {
  readonly code = 'FLEETQ_HANDOVER_TAKEN';
  readonly verdict = 'retry';
  constructor(directory: string, holder: string) {
    super(`another process waits already to take ${directory} over from ${holder}`, {
      hint: 'end that one first if this one is to take over',
    });
  }
}

/** The file was written by a newer FleetQ. */
export class JournalFormatError extends FleetqError {
  readonly code = 'FLEETQ_JOURNAL_FORMAT';
  readonly verdict = 'abort';
}

/** The directory or a file in it is not fit to hold a journal. */
export class JournalPlaceError extends FleetqError {
  readonly code = 'FLEETQ_JOURNAL_PLACE';
  readonly verdict = 'abort';
}

/** Nothing can be written now: the disk is full or fails. Runs stand still at their last record. */
export class JournalStalledError extends FleetqError {
  readonly code = 'FLEETQ_JOURNAL_STALLED';
  readonly verdict = 'retry';
  constructor(cause: Error) {
    super(`the journal cannot be written: ${cause.message}`, {
      cause,
      hint:
        (cause as { hint?: string }).hint ??
        'free space in the data directory; FleetQ goes on by itself as soon as writing works',
    });
  }
}

/** The records of one run do not add up; the run is left alone. */
export class DamagedRunError extends FleetqError {
  readonly code: 'FLEETQ_RUN_DAMAGED' | 'FLEETQ_KEY_MISSING' = 'FLEETQ_RUN_DAMAGED';
  readonly verdict = 'abort';
  constructor(run: string, damage: string, hint = 'see what is wrong with: fleetq journal verify') {
    super(`the records of run ${run} are damaged: ${damage}`, { hint });
  }
}

/** What `read` answers; undefined where the records that it reads are damaged. */
export function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedRunError) return undefined;
    throw error;
  }
}

/** Nothing is wrong with them: a newer FleetQ has written what this one cannot read. */
export class UnknownRecordError extends DamagedRunError {
  constructor(run: string, seq: number, kind: string) {
    const hint = 'a newer FleetQ has written it: run that one';
    super(run, `record ${seq} is of the unknown kind '${kind}'`, hint);
  }
}

/** Nothing is wrong with them: the key that opens them is not here. */
export class SealedRunError extends DamagedRunError {
  override readonly code = 'FLEETQ_KEY_MISSING';
  constructor(run: string, cause: KeyMissingError) {
    super(run, cause.message, cause.hint);
    this.message = `the records of run ${run} cannot be read here: ${cause.message}`;
    this.cause = cause;
  }
}

/** The file is broken beyond what SQLite can read. */
export class JournalDamagedError extends FleetqError {
  readonly code = 'FLEETQ_JOURNAL_DAMAGED';
  readonly verdict = 'abort';
}
