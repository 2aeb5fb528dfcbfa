/** Writes batches of records, each in one transaction, and prunes what nobody needs any more. */
import type { RunId } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import type { Connection, Statement } from './connection.ts';
import { type Head, sealHead } from './head.ts';
import * as sql from './journal.sql.ts';
import type { Entry } from './journal.ts';
import { encodeEntry } from './record.ts';
import { sealedRow } from './run-row.ts';

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
  readonly #head: Head;
  #lsn: number;

  constructor(connection: Connection, codec: Codec, head: Head) {
    this.#connection = connection;
    this.#codec = codec;
    this.#head = head;
    this.#lsn = head.lsn;
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
    };
  }

  prepare(entry: Entry): Prepared {
    const { data, hash } = encodeEntry(entry, this.#codec);
    return { entry, data, hash };
  }

  /** How far the journal has come: every transaction counts, so that a lost one is missed. */
  get lsn(): number {
    return this.#lsn;
  }

  /** All of them durable, or none and a throw. */
  write(batch: readonly Prepared[]): void {
    this.#transact((lsn) => {
      for (const prepared of batch) this.#put(prepared, ++lsn);
      return batch.length > 0 ? lsn : lsn + 1;
    });
  }

  /** `act` gets the last lsn that was used and answers the last one that it has used. */
  #transact(act: (lsn: number) => number): void {
    const { begin, commit, rollback, advanceHead } = this.#statements;
    let lsn: number;
    begin.run();
    try {
      lsn = act(this.#lsn);
      advanceHead.run(lsn, sealHead({ ...this.#head, lsn }));
      commit.run();
    } catch (error) {
      if (this.#connection.inTransaction) rollback.run();
      throw error;
    }
    this.#lsn = lsn;
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
      row.attempt,
      row.ending,
      row.last_seq,
      row.last_hash,
      row.seal,
      row.id,
    );
  }

  takeDueTimers(until: number, countMax: number): RunId[] {
    const { disarmTimer } = this.#statements;
    const rows = this.#connection.prepare(sql.selectDueTimers).all(until, countMax);
    const due = (rows as { run: RunId }[]).map(({ run }) => run);
    if (due.length === 0) return [];
    this.#transact((lsn) => {
      for (const run of due) disarmTimer.run(run);
      return lsn + 1;
    });
    return due;
  }

  /** Only what has ended, and at most `countMax` runs at a time. Answers how many were touched. */
  prune(before: { readonly events: number; readonly rows: number }, countMax: number): number {
    const idsOf = (text: string, time: number) =>
      this.#connection.prepare(text).all(time, countMax) as { id: string }[];
    const emptied = idsOf(sql.selectPrunable, before.events);
    const forgotten = idsOf(sql.selectForgettable, before.rows);
    if (emptied.length + forgotten.length === 0) return 0;
    const deleteEvents = this.#connection.prepare(sql.deleteEvents);
    const deleteRun = this.#connection.prepare(sql.deleteRun);
    this.#transact((lsn) => {
      for (const { id } of [...emptied, ...forgotten]) deleteEvents.run(id);
      for (const { id } of forgotten) deleteRun.run(id);
      return lsn + 1;
    });
    return new Set([...emptied, ...forgotten].map(({ id }) => id)).size;
  }
}
