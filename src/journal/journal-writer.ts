/** Writes batches of records, each in one transaction; timers and retention go the same way. */
import type { Clock, RunId } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import type { Connection, Statement } from './connection.ts';
import { type Head, sealHead } from './head.ts';
import * as sql from './journal.sql.ts';
import type { Entry, Opening, Pruned, RetentionLimits } from './journal.ts';
import { encodeEntry, type Prepared } from './record.ts';
import { Retention } from './retention.ts';
import { sealedRow } from './run-row.ts';

/** So many records a statement, where there are as many: a statement for each takes a third longer. */
const AT_ONCE = 16;
const COLUMNS = 9;

export class JournalWriter {
  readonly #connection: Connection;
  readonly #codec: Codec;
  readonly #statements;
  readonly #retention: Retention;
  readonly #head: Head;
  readonly #clock: Clock;
  #lsn: number;
  /** The columns of records that this transaction has still to write. */
  readonly #waiting: (string | number)[] = [];
  /** How long the last transaction took to be put on disk: its writes, and their fsync. */
  syncMs = 0;

  constructor(connection: Connection, codec: Codec, head: Head, clock: Clock) {
    this.#clock = clock;
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
      insertEvents: prepare(sql.insertEvents(AT_ONCE)),
      insertRun: prepare(sql.insertRun),
      finishRun: prepare(sql.finishRun),
      moveRun: prepare(sql.moveRun),
      advanceHead: prepare(sql.advanceHead),
      armTimer: prepare(sql.armTimer),
      disarmTimer: prepare(sql.disarmTimer),
      deleteHeldEvents: prepare(sql.deleteHeldEvents),
      deleteHeldRuns: prepare(sql.deleteHeldRuns),
    };
    this.#retention = new Retention(connection, (act) => this.#transact(act));
  }

  prepare(entry: Entry): Prepared {
    return encodeEntry(entry, this.#codec);
  }

  /** How far the journal has come: every transaction counts, so that a lost one is missed. */
  get lsn(): number {
    return this.#lsn;
  }

  /** All of them durable, and the ended holds gone; or none of it and a throw. */
  write(batch: readonly Prepared[], ended: readonly RunId[] = []): void {
    this.#transact((lsn) => {
      if (ended.length > 0) this.#deleteHeld(JSON.stringify(ended));
      this.#waiting.length = 0;
      for (const prepared of batch) lsn = this.#put(prepared, lsn + 1);
      this.#insertRest();
      return batch.length > 0 ? lsn : lsn + 1;
    });
  }

  /** Hundreds at once, mostly: two statements for all of them take half the time of two for each. */
  #deleteHeld(runs: string): void {
    this.#statements.deleteHeldEvents.run(runs);
    this.#statements.deleteHeldRuns.run(runs);
  }

  /** `act` gets the last lsn that was used and answers the last one that it has used. */
  #transact(act: (lsn: number) => number): void {
    const { begin, commit, rollback, advanceHead } = this.#statements;
    let lsn: number;
    begin.run();
    try {
      lsn = act(this.#lsn);
      advanceHead.run(lsn, sealHead({ ...this.#head, lsn }));
      const begunMs = this.#clock.monotonicMs();
      commit.run();
      this.syncMs = this.#clock.monotonicMs() - begunMs;
    } catch (error) {
      if (this.#connection.inTransaction) rollback.run();
      throw error;
    }
    this.#lsn = lsn;
  }

  #put({ entry, data, hash }: Prepared, lsn: number): number {
    const { run, seq, at, epoch, event, state, opens, closes, wakeAt } = entry;
    if (opens) lsn = this.#open(entry, opens, lsn);
    this.#insert(lsn, run, seq, at, epoch, event.type, state, data, hash);
    if (event.type === 'ADVANCED' || event.type === 'UPGRADED') {
      this.#statements.moveRun.run(event.version, run);
    }
    // A held run is here until the store has its end, and until then its last record says it.
    if (closes && closes.generation === undefined) this.#close(entry, closes, hash);
    if (typeof wakeAt === 'number') this.#statements.armTimer.run(run, wakeAt);
    if (wakeAt === null) this.#statements.disarmTimer.run(run);
    return lsn;
  }

  /** The run's row, and what others have recorded of it. Answers the lsn for its own record. */
  #open({ run, at }: Entry, { machine, version, key, generation, rows }: Opening, lsn: number) {
    const startedAt = rows?.[0]?.at ?? at;
    this.#statements.insertRun.run(
      run,
      machine,
      version,
      key ?? null,
      startedAt,
      generation ?? null,
    );
    for (const row of rows ?? []) {
      const { seq, at, epoch, event, state, data, hash } = row;
      this.#insert(lsn++, run, seq, at, epoch, event, state, data, hash);
    }
    return lsn;
  }

  #insert(...columns: (string | number)[]): void {
    const waiting = this.#waiting;
    waiting.push(...columns);
    if (waiting.length < AT_ONCE * COLUMNS) return;
    this.#statements.insertEvents.run(...waiting);
    waiting.length = 0;
  }

  #insertRest(): void {
    const waiting = this.#waiting;
    while (waiting.length > 0) {
      this.#statements.insertEvent.run(...waiting.splice(0, COLUMNS));
    }
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

  prune(before: RetentionLimits, countMax: number): Pruned {
    return this.#retention.prune(before, countMax);
  }
}
