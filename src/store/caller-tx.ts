/**
 * A transaction that whoever enqueues has begun, and will end: what is enqueued in it is there when it
 * commits, and never was when it does not. Postgres takes whatever sends a statement by `query(text,
 * values)` and answers its rows, as a client of `pg` does; SQLite takes a connection of better-sqlite3.
 */
import { show } from '../ground/index.ts';
import { TransactionError } from './errors.ts';

/** Answers rows, or an object that has them in `rows`. */
export interface CallerQuery {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** As better-sqlite3 has it. */
export interface CallerDatabase {
  readonly inTransaction: boolean;
  readonly name: string;
  prepare(source: string): unknown;
}

export type CallerTx = CallerQuery | CallerDatabase;

export function isQuery(tx: unknown): tx is CallerQuery {
  return typeof (tx as Partial<CallerQuery> | null | undefined)?.query === 'function';
}

export function isDatabase(tx: unknown): tx is CallerDatabase {
  const { prepare, inTransaction } = (tx ?? {}) as Partial<CallerDatabase>;
  return typeof prepare === 'function' && typeof inTransaction === 'boolean';
}

/** Said where an option is read: what it is for which store is found out there. */
export function callerTxOption(tx: unknown): CallerTx | undefined {
  if (tx === undefined || isQuery(tx) || isDatabase(tx)) return tx;
  throw new TransactionError(
    `tx must be a client with query(text, values), or a better-sqlite3 database, got ${show(tx)}`,
    { hint: 'give the very client, or database, on which the transaction was begun' },
  );
}

export function notInTransaction(cause?: unknown): TransactionError {
  return new TransactionError('tx is not in a transaction', {
    ...(cause === undefined ? {} : { cause }),
    hint: 'send BEGIN on that very client first; a pool is no client: take one with pool.connect()',
  });
}

export function otherDatabase(): TransactionError {
  return new TransactionError('tx is a transaction of another database than the store', {
    hint: 'connect it to the database that the store is in: only there one commit is for both',
  });
}

/** Said by tables in memory: there is no SQL, and nobody else could write to them. */
export function noTransactions(): TransactionError {
  return new TransactionError('a store in memory has no transactions', {
    hint: "use 'sqlite:./file.db', or Postgres",
  });
}
