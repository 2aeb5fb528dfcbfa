/** Looks at runs without touching them: what the command line, the API and people see. */
import { type Clock, isRunId, type RunId } from '../ground/index.ts';
import {
  DamagedRunError,
  type Journal,
  type RunFilter,
  type RunRow,
  type StoredRecord,
} from '../journal/index.ts';
import type { SetAside } from './asides.ts';
import { RunNotFoundError } from './errors.ts';
import type { LiveRun } from './live-run.ts';
import { type RunSummary, summarise } from './summary.ts';

/** What only the process that executes runs knows of them. */
export interface InHand {
  liveRun(id: RunId): LiveRun | undefined;
  setAside(id: RunId): SetAside | undefined;
  /** Why a run cannot go on here that nothing of is in memory, such as one that sleeps. */
  whyBlocked?(records: readonly StoredRecord[]): string | undefined;
}

/** The part of a journal that only reads; a file that nobody holds has no other. */
export type Readable = Pick<
  Journal,
  'find' | 'list' | 'history' | 'page' | 'lastSeq' | 'hasEvents'
>;

export class Inspector {
  readonly #journal: Readable;
  readonly #clock: Clock;
  readonly #inHand: InHand;

  constructor(journal: Readable, clock: Clock, inHand: InHand) {
    this.#journal = journal;
    this.#clock = clock;
    this.#inHand = inHand;
  }

  /** Runs, newest first. One that is damaged is shown as such and hides no other. */
  list(filter: RunFilter): RunSummary[] {
    return this.#journal.list(filter).map((row) => this.#summary(row));
  }

  describe(id: string): RunSummary {
    return this.#summary(this.#find(id));
  }

  /** The run's records after `afterSeq`, each verified against the one before it. */
  events(id: string, afterSeq = -1): StoredRecord[] {
    const row = this.#find(id);
    return this.#journal.hasEvents(row.id) ? this.#journal.history(row.id, afterSeq) : [];
  }

  /** The same from there on alone, until there are so many bytes of them. */
  page(id: string, afterSeq: number, bytesMax: number): StoredRecord[] {
    return this.#journal.page(this.#find(id).id, afterSeq, bytesMax);
  }

  /** The number of its last record, without reading any; -1 where it has none. */
  lastSeq(id: string): number {
    return this.#journal.lastSeq(this.#find(id).id) ?? -1;
  }

  #find(id: string): RunRow {
    const row = isRunId(id) ? this.#journal.find(id) : undefined;
    if (!row) throw new RunNotFoundError(id);
    return row;
  }

  #summary(row: RunRow): RunSummary {
    const now = this.#clock.now();
    const setAside = this.#inHand.setAside(row.id);
    if (row.damage !== undefined || setAside?.status === 'quarantined') {
      const reason = row.damage ?? setAside?.reason;
      return { ...summarise(row, [], now), status: 'quarantined', reason };
    }
    const records = this.#records(row);
    if (typeof records === 'string') {
      return { ...summarise(row, [], now), status: 'quarantined', reason: records };
    }
    const live = this.#inHand.liveRun(row.id);
    const aside = setAside ?? (live ? undefined : this.#blocked(row, records));
    return { ...summarise(row, records, now), ...aside, progress: live?.progress };
  }

  #blocked(row: RunRow, records: readonly StoredRecord[]): SetAside | undefined {
    const reason = row.ending ? undefined : this.#inHand.whyBlocked?.(records);
    return reason === undefined ? undefined : { status: 'blocked', reason };
  }

  /** The records, or why they cannot be trusted. An ended run answers by its row even then. */
  #records(row: RunRow): readonly StoredRecord[] | string {
    try {
      return this.#journal.history(row.id);
    } catch (error) {
      if (!(error instanceof DamagedRunError)) throw error;
      return row.finishedAt === undefined ? error.message : [];
    }
  }
}
