/**
 * The connections of a reader: few, and every question a transaction of its own that cannot write and
 * ends at its limit. What is set is set for the transaction alone, so a pooler may be on the way.
 */
import type { Clock, Random } from '../../ground/index.ts';
import { StoreBusyError, StoreUnreachableError } from '../errors.ts';
import { sqlStateOf } from './driver-errors.ts';
import type { PostgresWay } from './options.ts';
import { Pool, type Row } from './pool.ts';
import { readOnly, type Statement } from './reader.sql.ts';
import { openingOf } from './sql.ts';

const QUERY_CANCELED = '57014';
/** What comes by then beside the statement: a connection, and two more answers. */
const BESIDE_MS = 1_000;

export class ReadPool {
  readonly #pool: Pool;
  readonly #limits: {
    readonly serverMs: number;
    readonly deadlineMs: number;
    readonly opening: string;
  };
  #isClosed = false;

  constructor(way: PostgresWay, statementMs: number, ports: { clock: Clock; random: Random }) {
    this.#limits = {
      serverMs: statementMs,
      deadlineMs: statementMs * 2 + BESIDE_MS,
      opening: openingOf(statementMs, readOnly),
    };
    // Nothing is written here, so nothing can take effect late.
    this.#pool = new Pool(
      { ...way, toleratesLate: true, applicationName: 'fleetq-reader' },
      ports.clock,
      ports.random,
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.close();
  }

  ask({ text, values }: Statement): Promise<Row[]> {
    return this.query(text, values);
  }

  async query(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.#refuseClosed();
    try {
      return await this.#pool.transaction((send) => send(text, values), this.#limits);
    } catch (error) {
      this.#refuseClosed();
      throw this.#isCut(error) ? cutBy(this.#limits.serverMs, error) : error;
    }
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new StoreUnreachableError('the reader has been closed');
  }

  #isCut(error: unknown): boolean {
    return error instanceof StoreUnreachableError && sqlStateOf(error.cause) === QUERY_CANCELED;
  }
}

function cutBy(statementMs: number, cause: unknown): StoreBusyError {
  return new StoreBusyError(`the question took longer than ${statementMs} ms and was given up`, {
    cause,
    hint: 'ask for less, by a machine, a status or a span of time; or ask a replica: readStore',
  });
}
