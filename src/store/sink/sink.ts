/**
 * How what a store holds gets into an archive elsewhere: rounds over its tables, from a source that
 * misses nothing to a sink that takes everything twice without harm. The sink keeps the position, after
 * what it speaks of; so whoever dies, or never hears an answer, goes on from there and sends again what
 * may have arrived.
 *
 *   source ──look──▶ a moment       ──page──▶ rows that changed before it ──put──▶ sink
 *          ◀────────── how far everything has been sent; retention waits for it ──────┘
 */

/** Tables that are sent, in this order: a task that is shown as ended has its history there. */
export const ARCHIVED = ['run_events', 'step_tracker'] as const;
export type Archived = (typeof ARCHIVED)[number];

/** A row under the names of the archive's columns; times in milliseconds, texts as they are stored. */
export type Cells = Readonly<Record<string, string | number | boolean | null>>;

/** A moment of the source, in its own words. */
export interface Look {
  /** By the clock of the source. */
  readonly nowMs: number;
  /** Whatever commits after this look bears this time or a later one. */
  readonly since: string;
  /** The newest time in each table; null where it is empty. */
  readonly upper: Readonly<Record<Archived, string | null>>;
  /** The oldest writer that was under way, where the source can tell who wrote a row. */
  readonly writer: string | null;
  /** Another one than before: another store, or another server took over. */
  readonly timeline: string;
}

/** Where a round is: what changed between two looks, and how far it has come. */
export interface Round {
  readonly table: Archived;
  /** Null: everything there is. */
  readonly from: Look | null;
  readonly to: Look;
  /** The place behind the last row that was sent, in the words of the source. */
  readonly after: readonly (string | number)[] | null;
}

export interface Position {
  /** Everything that had changed by then has been sent; null: nothing is known. */
  readonly last: Look | null;
  readonly round: Round | null;
}

export interface Page {
  readonly rows: readonly Cells[];
  readonly after: Round['after'];
  readonly isLast: boolean;
}

export interface PageLimits {
  readonly countMax: number;
  readonly bytesMax: number;
}

/** A sink as its source knows it. */
export interface KnownSink {
  readonly name: string;
  readonly target: string;
  readonly holder: string | null;
  readonly isHeld: boolean;
  /** How long ago everything was that it has certainly sent; null before its first round ended. */
  readonly behindMs: number | null;
}

export interface SinkSource {
  readonly kind: string;
  /** Makes the indexes that rounds need; false where they are missing and may not be made. */
  prepare(isToMake: boolean): Promise<boolean>;
  look(): Promise<Look>;
  page(round: Round, limits: PageLimits): Promise<Page>;
  /** One at a time: true while `holder` has it, for so long. `isForced` takes it from whoever has it. */
  hold(sink: SinkName, leaseMs: number, isForced?: boolean): Promise<boolean>;
  /** Everything before this look is in the archive: retention may remove it. */
  confirm(sink: SinkName, look: Look): Promise<void>;
  /** Lets go of it; the next one need not wait. */
  free(sink: SinkName): Promise<void>;
  /** Retention waits for it no longer. False where nobody knows it, or a process has it. */
  forget(name: string): Promise<boolean>;
  sinks(): Promise<KnownSink[]>;
  close(): Promise<void>;
}

export interface SinkName {
  readonly name: string;
  readonly target: string;
  readonly holder: string;
}

export interface Batch {
  readonly events: readonly Cells[];
  readonly rows: readonly Cells[];
  /** Where all of it was the last of its page. */
  readonly position?: Position | undefined;
}

export interface Sink {
  /** Makes its tables, or refuses those that are missing or not as they should be. */
  prepare(isToMake: boolean): Promise<void>;
  /** Begins a tenure: what earlier ones still send changes nothing that this one has written. */
  takeOver(holder: string): Promise<Position | undefined>;
  /** As it was written last, whoever writes; changes nothing. */
  position(): Promise<Position | undefined>;
  /** Safe to repeat. All of the batch is there when the position is. */
  put(batch: Batch): Promise<void>;
  close(): Promise<void>;
}
