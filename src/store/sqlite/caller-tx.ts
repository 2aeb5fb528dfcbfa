/**
 * Statements inside a transaction of the caller's, on the caller's own connection to the same file. A
 * savepoint takes back what is refused, without ending the transaction. Who waits for tasks is told
 * once it is over: nothing can be seen before.
 */
import { statSync } from 'node:fs';
import { type Clock, sqlite } from '../../ground/index.ts';
import { type CallerTx, isDatabase, notInTransaction, otherDatabase } from '../caller-tx.ts';
import { TransactionError } from '../errors.ts';
import { type Connection, type Statement, storeError } from './connection.ts';
import { type Tx, txOver } from './session.ts';

const FULL = 2;
const savepoint = 'savepoint fleetq_enqueue';
const release = 'release fleetq_enqueue';
const rollbackTo = 'rollback to fleetq_enqueue';

/** All of `act` is in the caller's transaction, or nothing of it is. */
export function withinCallerTx<T>(tx: CallerTx, identity: string, act: (tx: Tx) => T): T {
  const connection = connectionOf(tx, identity);
  try {
    connection.prepare(savepoint).run();
    try {
      const answer = act(txOver((sql) => plain(connection.prepare(sql))));
      connection.prepare(release).run();
      return answer;
    } catch (error) {
      // SQLite ends a transaction by itself when the disk is full, and then there is no savepoint.
      if (connection.inTransaction) {
        connection.prepare(rollbackTo).run();
        connection.prepare(release).run();
      }
      throw error;
    }
  } catch (error) {
    throw storeError(error, connection.name);
  }
}

/** Whatever the caller wants of its own statements, ours answer numbers. */
function plain(statement: Statement): Statement {
  return statement.reader ? statement.safeIntegers(false) : statement;
}

function connectionOf(tx: CallerTx, identity: string): Connection {
  if (!isDatabase(tx)) {
    throw new TransactionError('tx must be a database of better-sqlite3', {
      hint: 'the store is a SQLite file: open that file, begin, and give that connection',
    });
  }
  const { Database } = sqlite();
  if (!(tx instanceof Database)) {
    throw new TransactionError('tx is a database of another copy of SQLite than the store', {
      hint: "open it with Database of 'fleetq/sqlite': two copies do not see each other's locks",
    });
  }
  const connection: Connection = tx;
  const found = statSync(connection.name, { throwIfNoEntry: false, bigint: true });
  if (!found || `${found.dev}:${found.ino}` !== identity) throw otherDatabase();
  if (!connection.inTransaction) throw notInTransaction();
  if ((connection.pragma('synchronous', { simple: true }) as number) < FULL) {
    throw new TransactionError('a commit of tx is not on disk when it returns', {
      hint: "call database.pragma('synchronous = FULL') after opening it, before it begins",
    });
  }
  return connection;
}

const LOOK_MS_FIRST = 1;
const LOOKS_MAX = 12;

/** Calls `tell` once the transaction is over, or has lasted for a few seconds. */
export function whenOver(tx: CallerTx, clock: Clock, tell: () => void, looks = 0): void {
  const isOver = !isDatabase(tx) || !tx.inTransaction || looks >= LOOKS_MAX;
  if (isOver && looks > 0) return tell();
  clock.after(LOOK_MS_FIRST * 2 ** looks, () => whenOver(tx, clock, tell, looks + 1), {
    idle: true,
  });
}
