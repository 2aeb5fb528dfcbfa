/**
 * Statements inside a transaction of the caller's, on the caller's own connection. A savepoint says
 * whether there is a transaction at all, and takes back what is refused without ending it. Drivers
 * differ in how they send arrays, so every list goes as one text of JSON, which all of them send alike;
 * and the tables are named with their schema, whatever the connection looks through by itself.
 */
import { FleetqError } from '../../ground/index.ts';
import { type CallerTx, isQuery, notInTransaction, otherDatabase } from '../caller-tx.ts';
import { TransactionError } from '../errors.ts';
import { meaningOf, sqlStateOf } from './driver-errors.ts';
import type { Pool, Row, Send } from './pool.ts';
import { sql } from './sql.ts';

/** A way to send the statements of an enqueue, and how lists are written on it. */
export interface Way {
  readonly send: Send;
  readonly columnsOf: <Item>(
    items: readonly Item[],
    columns: readonly ((item: Item) => unknown)[],
  ) => unknown[];
}

const NOT_IN_TRANSACTION = '25P01';
const savepoint = sql`savepoint fleetq_enqueue`;
const release = sql`release savepoint fleetq_enqueue`;
const rollbackTo = sql`rollback to savepoint fleetq_enqueue`;

/** Where the tables are: the same to everybody who is connected to the same database. */
const selectHome = sql`
  select space.nspname as schema, tables.oid::text as tables,
         pg_postmaster_start_time()::text as since, current_database() as database
    from pg_class tables join pg_namespace space on space.oid = tables.relnamespace
   where tables.oid = to_regclass('step_tracker')`;

/** The name of the tables is put in: whether they are those of `selectHome`. */
function selectIsHome(tables: string): string {
  return sql`
  select to_regclass('${tables}')::oid::text as tables,
         pg_postmaster_start_time()::text as since, current_database() as database`;
}

interface Home {
  readonly tables: string;
  readonly identity: string;
}

export class CallerTxs {
  readonly #pool: Pool;
  #home: Promise<Home> | undefined;
  /** One at a time on each connection: savepoints of two would lie across each other. */
  readonly #turns = new WeakMap<CallerTx, Promise<unknown>>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** All of `act` is in the caller's transaction, or nothing of it is. */
  within<Answer>(tx: CallerTx, act: (way: Way) => Promise<Answer>): Promise<Answer> {
    const before = this.#turns.get(tx);
    const turn = (before ?? Promise.resolve()).then(() => this.#within(tx, act));
    this.#turns.set(
      tx,
      turn.catch(() => undefined),
    );
    return turn;
  }

  async #within<Answer>(tx: CallerTx, act: (way: Way) => Promise<Answer>): Promise<Answer> {
    const ask = askerOf(tx);
    const home = await this.#homeNow();
    await ask(savepoint).catch((error) => {
      if (sqlStateOf(error) === NOT_IN_TRANSACTION) throw notInTransaction(error);
      throw error instanceof FleetqError ? error : meaningOf(error);
    });
    try {
      const tables = await this.#sameHome(ask, home);
      const send: Send = (text, values = []) =>
        ask(portable(text, tables), values.length > 0 ? [JSON.stringify(values)] : undefined);
      const answer = await act({ send, columnsOf: listsOf });
      await ask(release);
      return answer;
    } catch (error) {
      await ask(rollbackTo).then(
        () => ask(release),
        () => undefined,
      );
      throw sqlStateOf(error) === undefined ? error : meaningOf(error);
    }
  }

  /** Answers what the tables are called there. A server that was restarted is the same one. */
  async #sameHome(ask: Ask, known: Home): Promise<string> {
    const [row] = await ask(selectIsHome(known.tables));
    if (identityOf(row) === known.identity) return known.tables;
    this.#home = undefined;
    const { identity, tables } = await this.#homeNow();
    if (identityOf(row) !== identity || tables !== known.tables) throw otherDatabase();
    return tables;
  }

  #homeNow(): Promise<Home> {
    this.#home ??= this.#pool.query(selectHome).then(([row]) => ({
      tables: `${quoted(String(row?.['schema']))}.step_tracker`,
      identity: identityOf(row),
    }));
    this.#home.catch(() => {
      this.#home = undefined;
    });
    return this.#home;
  }
}

type Ask = (text: string, values?: unknown[]) => Promise<Row[]>;

function askerOf(tx: CallerTx): Ask {
  if (!isQuery(tx)) {
    throw new TransactionError('tx must be a client of Postgres, with query(text, values)', {
      hint: 'a database of better-sqlite3 is for a store in a SQLite file',
    });
  }
  return async (text, values) => {
    const answer = await (values === undefined ? tx.query(text) : tx.query(text, values));
    const rows = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | null)?.rows;
    if (Array.isArray(rows)) return rows as Row[];
    throw new TransactionError('the query of tx answered neither rows nor { rows }', {
      hint: 'let query(text, values) resolve with an array of objects, one for each row',
    });
  };
}

function identityOf(row: Row | undefined): string {
  return `${row?.['database']}\n${row?.['tables']}\n${row?.['since']}`;
}

/** An identifier, and a text around it that may stand between quotes. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`.replaceAll("'", "''");
}

/** Every list of the statement out of one JSON text; where the tables are is said in full. */
export function portable(text: string, tables: string): string {
  return text
    .replace(/\$(\d+)::(\w+)\[\]/g, (_, place: string, type: string) => listAt(place, type))
    .replace(/\b(from|join|into|update)(\s+)step_tracker\b/g, `$1$2${tables}`);
}

function listAt(place: string, type: string): string {
  const element = Number(place) - 1;
  return sql`(select array_agg(item #>> '{}' order by at)
      from json_array_elements($1::json -> ${element}) with ordinality as list (item, at))::${type}[]`;
}

/** Lists as they are: whoever sends them writes all of them as JSON. */
const listsOf: Way['columnsOf'] = (items, columns) =>
  columns.map((column) => items.map((item) => column(item) ?? null));
