/** Reads the journal back: runs, records, timers, dead letters. Trusts nothing it cannot verify. */
import type { RunId } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import { type Connection, isCorrupt, type Statement } from './connection.ts';
import { DamagedRunError } from './errors.ts';
import * as sql from './journal.sql.ts';
import type {
  DeadLetter,
  EventRow,
  HeldRow,
  RunFilter,
  RunRow,
  StoredRecord,
  UnfinishedRun,
  WholeRun,
} from './journal.ts';
import {
  CHAIN_START,
  decodeRows,
  decodeRowsAfter,
  type EventColumns,
  eventRowOf,
  eventRowsOf,
} from './record.ts';
import {
  deadLetterOf,
  type OpenColumns,
  openRow,
  type RawRunRow,
  readRunRow,
  refuseOtherEnd,
  refuseOtherStart,
} from './run-row.ts';
import { type WholeColumns, wholeRun } from './whole-run.ts';

const BEGINNING = { seq: -1, hash: CHAIN_START };
const PAGE_COUNT = 500;
/** A page of heavy runs is shorter. */
const PAGE_LENGTH_MAX = 8 * 1024 * 1024;
/** Sorts after every ULID. */
const AFTER_ALL = '~';

export class JournalReader {
  readonly #connection: Connection;
  readonly #codec: Codec;
  readonly #statements = new Map<string, Statement>();

  constructor(connection: Connection, codec: Codec) {
    this.#connection = connection;
    this.#codec = codec;
  }

  find(run: RunId): RunRow | undefined {
    const row = this.#rawRow(run);
    if (!row) return undefined;
    return row.finished_at === null ? this.#readOrMark(row) : readRunRow(row, this.#codec);
  }

  #rawRow(run: RunId): RawRunRow | undefined {
    return this.#prepared(sql.selectRun).get(run) as RawRunRow | undefined;
  }

  /**
   * An ended run answers by its seal, a live one by its first record; or by all of them where that one
   * does not say what the row says, since a newer version may have taken it up.
   */
  #trusted(row: RawRunRow): RunRow {
    const read = readRunRow(row, this.#codec);
    if (row.finished_at !== null) return read;
    const decode = (text: string) => decodeRows(read.id, this.#eventsOf(row.id, text), this.#codec);
    try {
      refuseOtherStart(row, decode(sql.selectFirstEvent));
    } catch (error) {
      if (!(error instanceof DamagedRunError)) throw error;
      refuseOtherStart(row, decode(sql.selectEvents));
    }
    return read;
  }

  findByKey(machine: string, key: string, finishedSince: number): RunRow | undefined {
    const row = this.#prepared(sql.selectRunByKey).get(machine, key) as RawRunRow | undefined;
    if (!row || (row.finished_at !== null && row.finished_at < finishedSince)) return undefined;
    return this.#trusted(row);
  }

  list({ status, machine, before, countMax }: RunFilter): RunRow[] {
    const of = { before: before ?? AFTER_ALL, machine: machine ?? null, countMax };
    const rows =
      status === undefined
        ? this.#prepared(sql.selectRuns).all(of)
        : status === 'unfinished'
          ? this.#prepared(sql.selectUnfinishedRuns).all(of)
          : this.#prepared(sql.selectFinishedRuns).all({
              ...of,
              outcome: status === 'finished' ? null : status,
            });
    return (rows as RawRunRow[]).map((row) => this.#readOrMark(row));
  }

  /** One damaged row must not hide the others. */
  #readOrMark(row: RawRunRow): RunRow {
    try {
      return this.#trusted(row);
    } catch (error) {
      if (!(error instanceof DamagedRunError)) throw error;
      return {
        ...readRunRow({ ...row, finished_at: null, ending: null }, this.#codec),
        damage: error.message,
      };
    }
  }

  history(run: RunId, afterSeq = -1): StoredRecord[] {
    const events = this.#eventsOf(run);
    const row = this.#rawRow(run);
    // Retention has taken the records of a run that ended long ago; its row still answers for it.
    if (row && events.length === 0 && readRunRow(row, this.#codec).ending) return [];
    // The whole chain is verified even for its last record: only the first one needs no other.
    const records = decodeRows(run, events, this.#codec);
    if (row) refuseOtherEnd(row, records);
    return records.filter((record) => record.seq > afterSeq);
  }

  page(run: RunId, afterSeq: number, bytesMax: number): StoredRecord[] {
    const rows: EventRow[] = [];
    let bytes = 0;
    // With the one before them, whose hash they are verified by.
    for (const row of this.#rowsFrom(run, Math.max(0, afterSeq))) {
      rows.push(row);
      if (row.seq > afterSeq) bytes += row.data.length;
      if (bytes >= bytesMax) break;
    }
    if (afterSeq < 0) return decodeRowsAfter(run, rows, this.#codec, BEGINNING);
    const [before, ...rest] = rows;
    if (!before || before.seq !== afterSeq) return [];
    return decodeRowsAfter(run, rest, this.#codec, before);
  }

  *#rowsFrom(run: RunId, fromSeq: number): Iterable<EventRow> {
    try {
      const asked = this.#prepared(sql.selectEventsFrom).raw().iterate(run, fromSeq);
      for (const columns of asked) yield eventRowOf(columns as unknown as EventColumns);
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      throw new DamagedRunError(run, 'its records are on a broken page');
    }
  }

  lastSeq(run: RunId): number | undefined {
    const row = this.#prepared(sql.selectLastSeq).get(run) as { seq: number | null };
    return row.seq ?? undefined;
  }

  recent(countMax: number): { run: string; at: number }[] {
    return this.#prepared(sql.selectRecent).all(countMax) as { run: string; at: number }[];
  }

  /** Whether retention has left the run its records. */
  hasEvents(run: RunId): boolean {
    return this.#prepared(sql.selectHasEvents).get(run) !== undefined;
  }

  holds(): HeldRow[] {
    return this.#prepared(sql.selectHeld).all() as HeldRow[];
  }

  hasRun(run: RunId): boolean {
    return this.#prepared(sql.selectHasRun).get(run) !== undefined;
  }

  rows(run: RunId): EventRow[] {
    return this.#eventsOf(run);
  }

  readTogether(runs: readonly RunId[]): (WholeRun | undefined)[] {
    const statement = this.#prepared(sql.selectTogether).raw();
    const read: (WholeRun | undefined)[] = [];
    let length = 0;
    try {
      const asked = statement.iterate(JSON.stringify(runs));
      for (const columns of asked as unknown as Iterable<WholeColumns | readonly null[]>) {
        read.push(columns[0] === null ? undefined : wholeRun(columns as WholeColumns, this.#codec));
        length += columns[6]?.length ?? 0;
        if (length > PAGE_LENGTH_MAX) break;
      }
      return read;
    } catch {
      // A broken page, or a value that is not what its column is for: nobody knows yet whose.
      return runs.map(() => undefined);
    }
  }

  decode(run: RunId, rows: readonly EventRow[], after = BEGINNING): StoredRecord[] {
    return after === BEGINNING
      ? decodeRows(run, rows, this.#codec)
      : decodeRowsAfter(run, rows, this.#codec, after);
  }

  *unfinished(asleepUntil: number): Iterable<UnfinishedRun> {
    let after = '';
    while (true) {
      const page = this.#resumablePage(after, asleepUntil);
      for (const columns of page) yield this.#resumable(openRow(columns), columns[6]);
      const last = page.at(-1);
      if (!last) return;
      after = last[0];
    }
  }

  /**
   * Runs to resume, with their records as one text. Where that cannot be had, each run is read alone,
   * and it comes out which of them is at fault.
   */
  #resumablePage(after: string, asleepUntil: number): (WholeColumns | OpenColumns)[] {
    const page: WholeColumns[] = [];
    let length = 0;
    try {
      const statement = this.#prepared(sql.selectResumableWhole).raw();
      for (const columns of statement.iterate(after, asleepUntil, PAGE_COUNT)) {
        page.push(columns as unknown as WholeColumns);
        length += (columns as unknown as WholeColumns)[6].length;
        if (length > PAGE_LENGTH_MAX) break;
      }
      return page;
    } catch {
      const rows = this.#prepared(sql.selectResumable).raw().all(after, asleepUntil, PAGE_COUNT);
      return rows as OpenColumns[];
    }
  }

  /** A broken page is the damage of the runs on it; the others know nothing of it. */
  #eventsOf(run: string, text = sql.selectEvents): EventRow[] {
    try {
      return (this.#prepared(text).raw().all(run) as EventColumns[]).map(eventRowOf);
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      throw new DamagedRunError(run, 'its records are on a broken page');
    }
  }

  #resumable(raw: RawRunRow, text: string | undefined): UnfinishedRun {
    const row = readRunRow(raw, this.#codec);
    try {
      const rows = text === undefined ? this.#eventsOf(row.id) : eventRowsOf(row.id, text);
      const records = decodeRows(row.id, rows, this.#codec);
      refuseOtherStart(raw, records);
      return { row, records };
    } catch (error) {
      // Said of the rows as they are, and not of a text that was made of them.
      if (text !== undefined) return this.#resumable(raw, undefined);
      if (error instanceof DamagedRunError) return { row, damage: error.message };
      throw error;
    }
  }

  nextTimerAt(): number | undefined {
    const row = this.#prepared(sql.selectNextTimer).get() as { due_at: number | null };
    return row.due_at ?? undefined;
  }

  deadLetters(countMax: number): DeadLetter[] {
    const rows = this.#prepared(sql.selectFailedRuns).all(countMax) as RawRunRow[];
    return rows.flatMap((row) => {
      const read = this.#readOrMark(row);
      // A damaged one is shown among the runs, with its damage; there is no evidence to give here.
      return read.damage === undefined ? [deadLetterOf(row, read)] : [];
    });
  }

  /** The last seq of each of these runs that has not ended: in one question, since they may be many. */
  protected lastSeqs(runs: Iterable<RunId>): Map<RunId, number> {
    const asked = [...runs];
    const found = new Map<RunId, number>();
    if (asked.length === 0) return found;
    const answer = this.#prepared(sql.selectLastSeqs).pluck().get(JSON.stringify(asked));
    (JSON.parse(answer as string) as (number | null)[]).forEach((seq, index) => {
      if (seq !== null) found.set(asked[index]!, seq);
    });
    return found;
  }

  #prepared(text: string): Statement {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#connection.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}
