/**
 * The journal as the engine sees it: a port. `SqliteJournal` keeps it in a file; a simulation keeps
 * it in memory with faults of its own.
 */
import type { RunId } from '../ground/index.ts';
import type { Ending, Outcome, RunEvent } from '../machine/index.ts';
import type { CopyOf, Rival } from './copy.ts';

/** One thing to write: a run's next record, and what it opens, arms or closes. */
export interface Entry {
  readonly run: RunId;
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly event: RunEvent;
  /** The state the run is in once this is durable. */
  readonly state: string;
  readonly prevHash: string;
  readonly opens?: Opening | undefined;
  readonly closes?: Closing | undefined;
  /** Wakes the run at this time, even if nothing of it is in memory; null disarms. */
  readonly wakeAt?: number | null | undefined;
}

/** What a codec and the chain make of an entry. */
export interface Written {
  readonly hash: string;
  readonly data: string;
}

export interface Opening {
  readonly machine: string;
  readonly version: number;
  readonly key?: string | undefined;
  /** Of a run that is held for a store; its copy here is forgotten when the store has it all. */
  readonly generation?: number | undefined;
  /** What earlier owners have recorded, copied so that the whole of it is here. */
  readonly rows?: readonly EventRow[] | undefined;
}

export interface Closing extends Opening {
  readonly startedAt: number;
  readonly attempt: number;
  readonly ending: Ending;
}

/** A record as it was read back, its place in the chain verified. */
export interface StoredRecord {
  readonly seq: number;
  readonly lsn: number;
  readonly at: number;
  readonly epoch: number;
  readonly event: RunEvent;
  readonly state: string;
  readonly hash: string;
}

export interface RunRow {
  readonly id: RunId;
  readonly machine: string;
  readonly version: number;
  readonly key: string | undefined;
  readonly startedAt: number;
  readonly finishedAt: number | undefined;
  readonly ending: Ending | undefined;
  /** Of a run that is held for a store. */
  readonly generation?: number | undefined;
  /** Why this row cannot be trusted: it differs from the records, or, in lists only, from its seal. */
  readonly damage?: string | undefined;
}

export interface HeldRow {
  readonly run: RunId;
  readonly generation: number;
  readonly epoch: number;
  readonly version: number;
}

/** A record as it is stored. */
export interface EventRow {
  readonly lsn: number;
  readonly run: string;
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly event: string;
  readonly state: string;
  readonly data: string;
  readonly hash: string;
}

/** A run that was read at boot: its records, or why they cannot be trusted. */
export type UnfinishedRun =
  | { readonly row: RunRow; readonly records: readonly StoredRecord[]; readonly damage?: undefined }
  | { readonly row: RunRow; readonly damage: string };

/** A run that has not ended, with its records as they were written and as they were read. */
export interface WholeRun {
  readonly row: RunRow;
  readonly rows: readonly EventRow[];
  readonly records: readonly StoredRecord[];
}

export interface DeadLetter {
  readonly run: RunId;
  readonly at: number;
  readonly machine: string;
  readonly version: number;
  readonly outcome: Outcome;
  readonly state: string;
  readonly attempt: number;
  readonly reason: string;
}

export interface RunFilter {
  readonly status?: 'unfinished' | 'finished' | Outcome | undefined;
  readonly machine?: string | undefined;
  /** Older than this run. */
  readonly before?: string | undefined;
  readonly countMax: number;
}

/** A run that is given a slot, and the seq it has reached. */
export interface Occupancy {
  readonly slot: number;
  readonly run: RunId;
  readonly seq: number;
}

/** What a predecessor left in its slots; `isComplete` is false where that cannot be known. */
export interface Evidence {
  readonly isComplete: boolean;
  /** Where it is not complete: of runs that have moved on since this lsn all is known after all. */
  readonly unknownUntil?: number | undefined;
  /** Run → the seq it had reached when it was given its slot. */
  readonly occupied: ReadonlyMap<RunId, number>;
}

/** Something about the file that a person has to know. */
export interface Alarm {
  readonly kind:
    | 'recordsLost'
    | 'fileDamaged'
    | 'markDamaged'
    | 'otherJournal'
    | 'copied'
    | 'elsewhere';
  readonly message: string;
}

/** Who else has, or had, this journal. */
export interface JournalOwners {
  /** Whether the lock of this disk proves that no process is that pod any more. */
  provesDead(pod: string): boolean;
  /** This process is about to be one of these pods; of the others this disk has the proof of death. */
  add(pods: readonly string[]): void;
  /** Who was seen at work with this journal, now or before; nothing goes on here until a person adopts it. */
  readonly rival: Rival | undefined;
  noteRival(rival: Rival): void;
}

/** Events of runs that ended before the one time, rows of those that ended before the other. */
export interface RetentionLimits {
  readonly events: number;
  readonly rows: number;
}
export interface Pruned {
  /** How many lost their events, their row, or both. */
  readonly runs: number;
  /** How many were looked at for that: what the pass has cost. */
  readonly looked: number;
  /** Whether there may be more to look at now. */
  readonly isMore: boolean;
}

/** A run whose records cannot be trusted; its row only where it has not ended. */
export interface DamagedRun {
  readonly run: RunId;
  readonly row: RunRow | undefined;
  readonly reason: string;
}
export interface EventCheck {
  /** How far it came; undefined where there was nothing left to look at. */
  readonly last: RunId | undefined;
  readonly damaged: readonly DamagedRun[];
}

export interface Journal {
  readonly id: string;
  /** What was found wrong when it was opened. */
  readonly alarms: readonly Alarm[];
  /** How often this journal has been opened to write: the epoch of runs that have no store. */
  readonly boot: number;
  /** How far it has come; every transaction counts. */
  readonly lsn: number;
  /** How far it had come when it was opened. */
  readonly lsnAtOpen: number;
  /** What this one was copied from: local runs up to there are the original's. */
  readonly copyOf: CopyOf | undefined;
  readonly evidence: Evidence;
  /** Why nothing can be written now; undefined while all is well. */
  readonly stalledBy: Error | undefined;

  readonly owners: JournalOwners;

  /** Resolves when the record is durable, with its hash. Never rejects for lack of space: it waits. */
  append(entry: Entry, written?: Written): Promise<Written>;
  /** What `append` would write; given to it, that is what it writes. */
  prepare(entry: Entry): Written;
  /** Writes what is pending, now, on this stack; for a process that is about to end. */
  flushNow(): void;

  /** Notes, without waiting for the disk, which runs were given which slots. */
  occupy(occupancies: readonly Occupancy[]): void;
  /** Notes that nothing is being executed any more, in these slots or in any. */
  vacate(slots?: readonly number[]): void;

  /** Throws a DamagedRunError for an ended run whose outcome cannot be trusted. */
  find(run: RunId): RunRow | undefined;
  /** The run of that machine and key whose key has not expired. */
  findByKey(machine: string, key: string, finishedSince: number): RunRow | undefined;
  list(filter: RunFilter): RunRow[];
  /** The run's records after `afterSeq`; throws a DamagedRunError where they cannot be trusted. */
  history(run: RunId, afterSeq?: number): StoredRecord[];
  /**
   * Records after this one, until there are so many bytes of them; none where there is no such record.
   * Verified from there on: of a long history nobody has to read what they know.
   */
  page(run: RunId, afterSeq: number, bytesMax: number): StoredRecord[];
  /** The number of its last record; undefined where it has none. */
  lastSeq(run: RunId): number | undefined;
  /** Of the last records of all runs, whose they are and when they were written; newest first. */
  recent(countMax: number): { readonly run: string; readonly at: number }[];
  /** Whether retention has left the run its records. */
  hasEvents(run: RunId): boolean;
  /** Runs to resume, in pages; those that sleep beyond `asleepUntil` are left to their timers. */
  unfinished(asleepUntil: number): Iterable<UnfinishedRun>;
  /** Runs held for a store, ended ones included, with the epoch of their last records. */
  holds(): HeldRow[];
  /** The store has these, or somebody else: they are deleted with the next records. */
  endHolds(runs: readonly RunId[]): void;
  hasRun(run: RunId): boolean;
  /** The run's records as they were written. */
  rows(run: RunId): EventRow[];
  /**
   * These runs, in their order, read and proved in one go; as many of them as there is room for. Undefined
   * for one that is damaged, has ended or is gone: asked for alone, it comes out what is wrong with it.
   */
  readTogether(runs: readonly RunId[]): (WholeRun | undefined)[];
  /** Records that came from elsewhere; throws a DamagedRunError where they cannot be trusted. */
  decode(
    run: RunId,
    rows: readonly EventRow[],
    after?: { readonly seq: number; readonly hash: string },
  ): StoredRecord[];
  /** Runs whose time has come. Their timers are gone after this; a restart finds the runs anyway. */
  takeDueTimers(until: number, countMax: number): RunId[];
  nextTimerAt(): number | undefined;
  deadLetters(countMax: number): DeadLetter[];
  /** Deletes events of runs that ended long ago, and rows of older ones; so many at a time. */
  prune(before: RetentionLimits, countMax: number): Pruned;
  /** Whether the events were looked through when it was opened, as they are where it is small. */
  readonly areEventsChecked: boolean;
  /** Verifies the records of some of the runs after that one, in the order of their ids. */
  checkEvents(after: string, countMax: number): EventCheck;
  close(): void;
}
