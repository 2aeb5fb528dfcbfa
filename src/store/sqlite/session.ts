/**
 * Transactions on the shared file. Every write is one `begin immediate`: the lock on the file is the
 * fence, so what a transaction reads stays true until it commits. Between two tries on a locked file
 * the event loop is free; the waits are spread by chance, so that rivals do not meet again.
 */
import { type Clock, jittered, pause, type Random, turn } from '../../ground/index.ts';
import { StoreRefusedError } from '../errors.ts';
import {
  assertFullSync,
  type Connection,
  isBusy,
  isRefusal,
  type Statement,
  storeError,
} from './connection.ts';
import {
  beginRead,
  beginRow,
  beginWrite,
  commit,
  commitRow,
  rollback,
  rollbackRow,
  selectNow,
} from './session.sql.ts';

type Value = string | number | null;
export type Values = Readonly<Record<string, Value>>;

/** What happens in one transaction. */
export interface Tx {
  /** The store's time when the transaction began, in whole milliseconds. */
  readonly now: number;
  /** Answers how many rows were changed. */
  run(sql: string, values?: Values): number;
  get<Row>(sql: string, values?: Values): Row | undefined;
  all<Row>(sql: string, values?: Values): Row[];
  /** One by one, and no further than is asked for; to be gone through before anything else is done. */
  each<Row>(sql: string, values?: Values): IterableIterator<Row>;
}

const BUSY_MS_MAX = 5_000;
const BUSY_PAUSE_MS_FIRST = 4;
const BUSY_PAUSE_MS_MAX = 120;

/** No transaction is larger than this; longer lists are worked through in several. */
export const BATCH_COUNT_MAX = 500;

export function* batchesOf<T>(items: readonly T[], countMax = BATCH_COUNT_MAX): Generator<T[]> {
  for (let from = 0; from < items.length; from += countMax)
    yield items.slice(from, from + countMax);
}

export interface SessionOptions {
  readonly clock: Clock;
  readonly random: Random;
}

export class Session {
  readonly file: string;
  readonly #connection: Connection;
  readonly #options: SessionOptions;
  readonly #statements = new Map<string, Statement>();
  #isSyncKnown = false;
  #elder: Promise<void> | undefined;

  constructor(connection: Connection, options: SessionOptions) {
    this.file = connection.name;
    this.#connection = connection;
    this.#options = options;
  }

  /** All of `act` or nothing, on disk when this resolves. Where the file is locked, `act` is not called. */
  write<T>(act: (tx: Tx) => T): Promise<T> {
    const written = () => {
      const answer = this.#transact(beginWrite, act);
      if (!this.#isSyncKnown) assertFullSync(this.#connection);
      this.#isSyncKnown = true;
      return answer;
    };
    return unlessBusy(this.file, this.#options, written, () => this.#elder);
  }

  /**
   * Another connection of this process has the file until `over`, across turns of the loop. A write that
   * held the loop to wait for it would hold up the very end it waits for.
   */
  giveWay(over: Promise<void>): void {
    this.#elder = over;
    over.then(() => {
      if (this.#elder === over) this.#elder = undefined;
    });
  }

  /** One snapshot. */
  read<T>(act: (tx: Tx) => T): Promise<T> {
    return unlessBusy(this.file, this.#options, () => this.#transact(beginRead, act));
  }

  /** One statement that is not kept: those made from what people ask are many, and each is its own. */
  once<Row>(sql: string, values: Values): Promise<Row[]> {
    const act = () => this.#connection.prepare(sql).all(whole(values)) as Row[];
    return unlessBusy(this.file, this.#options, act);
  }

  close(): void {
    this.#connection.close();
  }

  #transact<T>(begin: string, act: (tx: Tx) => T): T {
    this.#prepare(begin).run();
    try {
      const answer = act(txOver((sql) => this.#prepare(sql)));
      this.#prepare(commit).run();
      return answer;
    } finally {
      // SQLite ends a transaction by itself when the disk is full; a second end would be an error.
      if (this.#connection.inTransaction) this.#prepare(rollback).run();
    }
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** A transaction that has begun, on whatever connection prepares the statements. */
export function txOver(prepare: (sql: string) => Statement): Tx {
  const { now } = prepare(selectNow).get() as { now: number };
  return {
    now,
    run: (sql, values = {}) => prepare(sql).run(whole(values)).changes,
    get: (sql, values = {}) => prepare(sql).get(whole(values)) as never,
    all: (sql, values = {}) => prepare(sql).all(whole(values)) as never,
    each: (sql, values = {}) => prepare(sql).iterate(whole(values)) as never,
  };
}

/** SQLite would keep a NUL, and then compare and cut texts as if they ended there. No store keeps one. */
function whole(values: Values): Values {
  for (const name in values) {
    const value = values[name];
    if (typeof value === 'string' && value.includes('\0')) {
      throw new StoreRefusedError(`${name} holds a NUL character, which no store can keep`, {
        hint: 'encode binary data, in base64 perhaps, before it is stored',
      });
    }
  }
  return values;
}

/** A single statement: one that is refused has changed nothing, and the transaction goes on. */
export function attempt<T>(act: () => T): { readonly answer: T } | { readonly refused: string } {
  try {
    return { answer: act() };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { refused: (error as Error).message };
  }
}

/** One of many rows: what the store cannot hold takes back this row's changes and no other's. */
export function eachRow<T>(
  tx: Tx,
  act: () => T,
): { readonly answer: T } | { readonly refused: string } {
  tx.run(beginRow);
  try {
    const answer = act();
    tx.run(commitRow);
    return { answer };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    tx.run(rollbackRow);
    tx.run(commitRow);
    return { refused: (error as Error).message };
  }
}

/** Tries again while a rival has the file locked, then gives up with StoreBusyError. */
export async function unlessBusy<T>(
  file: string,
  { clock, random }: SessionOptions,
  act: () => T,
  elder: () => Promise<void> | undefined = () => undefined,
): Promise<T> {
  // SQLite answers at once: whoever asks again and again would otherwise never let the loop turn.
  await turn(clock);
  const giveUpMs = clock.monotonicMs() + BUSY_MS_MAX;
  let pauseMs = BUSY_PAUSE_MS_FIRST;
  while (true) {
    // Whoever has waited for it goes before the next of its kind, which waits for a turn first.
    await elder();
    try {
      return act();
    } catch (error) {
      if (!isBusy(error) || clock.monotonicMs() >= giveUpMs) throw storeError(error, file);
    }
    await pause(clock, jittered(pauseMs, random.fraction()));
    pauseMs = Math.min(pauseMs * 2, BUSY_PAUSE_MS_MAX);
  }
}
