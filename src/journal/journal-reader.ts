/** Reads the journal back: runs, records, timers, dead letters. Trusts nothing it cannot verify. */
import type { RunId } from '../ground/index.ts';
import type { Outcome } from '../machine/index.ts';
import type { Codec } from './codec.ts';
import type { Connection, Statement } from './connection.ts';
import { DamagedRunError } from './errors.ts';
import * as sql from './journal.sql.ts';
import type { DeadLetter, RunFilter, RunRow, StoredRecord, UnfinishedRun } from './journal.ts';
import { decodeRows, type EventRow, groupByRun } from './record.ts';
import { type RawRunRow, readRunRow } from './run-row.ts';

const PAGE_COUNT = 1_000;
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
    const row = this.#prepared(sql.selectRun).get(run) as RawRunRow | undefined;
    return row && readRunRow(row, this.#codec);
  }

  findByKey(machine: string, key: string, finishedSince: number): RunRow | undefined {
    const row = this.#prepared(sql.selectRunByKey).get(machine, key) as RawRunRow | undefined;
    if (!row || (row.finished_at !== null && row.finished_at < finishedSince)) return undefined;
    return readRunRow(row, this.#codec);
  }

  list({ status, machine, before, countMax }: RunFilter): RunRow[] {
    const from = before ?? AFTER_ALL;
    const ofMachine = machine ?? null;
    const rows =
      status === undefined
        ? this.#prepared(sql.selectRuns).all(from, ofMachine, countMax)
        : status === 'unfinished'
          ? this.#prepared(sql.selectUnfinishedRuns).all(from, ofMachine, countMax)
          : this.#prepared(sql.selectFinishedRuns).all(
              from,
              ofMachine,
              countMax,
              status === 'finished' ? null : status,
            );
    return (rows as RawRunRow[]).map((row) => this.#readOrMark(row));
  }

  /** One damaged row must not hide the others. */
  #readOrMark(row: RawRunRow): RunRow {
    try {
      return readRunRow(row, this.#codec);
    } catch (error) {
      if (!(error instanceof DamagedRunError)) throw error;
      return {
        ...readRunRow({ ...row, finished_at: null, ending: null }, this.#codec),
        damage: error.message,
      };
    }
  }

  history(run: RunId, afterSeq = -1): StoredRecord[] {
    const rows = this.#prepared(sql.selectEvents).all(run) as EventRow[];
    // The whole chain is verified even for its last record: only the first one needs no other.
    return decodeRows(run, rows, this.#codec).filter((record) => record.seq > afterSeq);
  }

  /** Whether retention has left the run its records. */
  hasEvents(run: RunId): boolean {
    return this.#prepared(sql.selectHasEvents).get(run) !== undefined;
  }

  *unfinished(asleepUntil: number): Iterable<UnfinishedRun> {
    let after = '';
    while (true) {
      const page = this.#prepared(sql.selectResumable).all(
        after,
        asleepUntil,
        PAGE_COUNT,
      ) as RawRunRow[];
      const [first, last] = [page[0], page.at(-1)];
      if (!first || !last) return;
      const between = this.#prepared(sql.selectEventsBetween).all(first.id, last.id) as EventRow[];
      const events = groupByRun(between);
      for (const row of page) yield this.#resumable(row, events.get(row.id) ?? []);
      after = last.id;
    }
  }

  #resumable(raw: RawRunRow, events: readonly EventRow[]): UnfinishedRun {
    const row = readRunRow(raw, this.#codec);
    try {
      const records = decodeRows(row.id, events, this.#codec);
      refuseOtherStart(row, records);
      return { row, records };
    } catch (error) {
      if (error instanceof DamagedRunError) return { row, damage: error.message };
      throw error;
    }
  }

  nextTimerAt(): number | undefined {
    const row = this.#prepared(sql.selectNextTimer).get() as { due_at: number | null };
    return row.due_at ?? undefined;
  }

  deadLetters(countMax: number): DeadLetter[] {
    const rows = this.#prepared(sql.selectDeadLetters).all(countMax) as (DeadLetter & {
      outcome: Outcome;
    })[];
    return rows.map((row) => ({ ...row, reason: this.#codec.decode(row.reason) }));
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

/** The row has no seal yet; its first record, which has a hash, says what it must say. */
function refuseOtherStart(row: RunRow, records: readonly StoredRecord[]): void {
  const event = records[0]?.event;
  const isSame =
    event?.type === 'STARTED' &&
    event.machine === row.machine &&
    event.version === row.version &&
    event.key === row.key;
  if (!isSame) throw new DamagedRunError(row.id, 'its row and its first record differ');
}
