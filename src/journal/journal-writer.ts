/** Writes batches of records, each in one transaction, and prunes what nobody needs any more. */
import type { RunId } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import type { Connection, Statement } from './connection.ts';
import * as sql from './journal.sql.ts';
import type { Entry } from './journal.ts';
import { encodeEntry } from './record.ts';
import { deadLetterOf, sealedRow } from './run-row.ts';

/** An entry with everything computed that can be computed before the transaction. */
export interface Prepared {
  readonly entry: Entry;
  readonly data: string;
  readonly hash: string;
}

export class JournalWriter {
  readonly #connection: Connection;
  readonly #codec: Codec;
  readonly #statements;
  #lsn: number;

  constructor(connection: Connection, codec: Codec, lsn: number) {
    this.#connection = connection;
    this.#codec = codec;
    this.#lsn = lsn;
    const prepare = (text: string): Statement => connection.prepare(text);
    this.#statements = {
      begin: prepare('begin immediate'),
      commit: prepare('commit'),
      rollback: prepare('rollback'),
      insertEvent: prepare(sql.insertEvent),
      insertRun: prepare(sql.insertRun),
      finishRun: prepare(sql.finishRun),
      advanceHead: prepare(sql.advanceHead),
      armTimer: prepare(sql.armTimer),
      disarmTimer: prepare(sql.disarmTimer),
      insertDeadLetter: prepare(sql.insertDeadLetter),
    };
  }

  prepare(entry: Entry): Prepared {
    const { data, hash } = encodeEntry(entry, this.#codec);
    return { entry, data, hash };
  }

  /** All of them durable, or none and a throw. Answers how far the journal has come. */
  write(batch: readonly Prepared[]): number {
    const { begin, commit, rollback, advanceHead } = this.#statements;
    let lsn = this.#lsn;
    begin.run();
    try {
      for (const prepared of batch) this.#put(prepared, ++lsn);
      advanceHead.run(lsn);
      commit.run();
    } catch (error) {
      if (this.#connection.inTransaction) rollback.run();
      throw error;
    }
    this.#lsn = lsn;
    return lsn;
  }

  #put({ entry, data, hash }: Prepared, lsn: number): void {
    const { run, seq, at, epoch, event, state, opens, closes, wakeAt } = entry;
    this.#statements.insertEvent.run(lsn, run, seq, at, epoch, event.type, state, data, hash);
    if (opens)
      this.#statements.insertRun.run(run, opens.machine, opens.version, opens.key ?? null, at);
    if (closes) this.#close(entry, closes, hash);
    if (typeof wakeAt === 'number') this.#statements.armTimer.run(run, wakeAt);
    if (wakeAt === null) this.#statements.disarmTimer.run(run);
  }

  #close(entry: Entry, closing: NonNullable<Entry['closes']>, hash: string): void {
    const row = sealedRow(entry, closing, hash, this.#codec);
    this.#statements.finishRun.run(
      row.finished_at,
      row.outcome,
      row.ending,
      row.last_seq,
      row.last_hash,
      row.seal,
      row.id,
    );
    const letter = deadLetterOf(entry, closing);
    if (!letter) return;
    this.#statements.insertDeadLetter.run(
      letter.run,
      letter.at,
      letter.machine,
      letter.version,
      letter.outcome,
      letter.state,
      letter.attempt,
      this.#codec.encode(letter.reason),
    );
  }

  takeDueTimers(until: number, countMax: number): RunId[] {
    return this.#connection
      .transaction(() => {
        const due = this.#connection.prepare(sql.selectDueTimers).all(until, countMax);
        for (const { run } of due as { run: RunId }[]) this.#statements.disarmTimer.run(run);
        return (due as { run: RunId }[]).map(({ run }) => run);
      })
      .immediate();
  }

  /** Only what has ended, and at most `countMax` runs at a time. Answers how many were touched. */
  prune(before: { readonly events: number; readonly rows: number }, countMax: number): number {
    const idsOf = (text: string, time: number) =>
      this.#connection.prepare(text).all(time, countMax) as { id: string }[];
    return this.#connection
      .transaction(() => {
        const emptied = idsOf(sql.selectPrunable, before.events);
        const deleteEvents = this.#connection.prepare(sql.deleteEvents);
        for (const { id } of emptied) deleteEvents.run(id);
        const forgotten = idsOf(sql.selectForgettable, before.rows);
        for (const text of [sql.deleteEvents, sql.deleteDeadLetter, sql.deleteRun]) {
          const statement = this.#connection.prepare(text);
          for (const { id } of forgotten) statement.run(id);
        }
        return emptied.length + forgotten.length;
      })
      .immediate();
  }
}
