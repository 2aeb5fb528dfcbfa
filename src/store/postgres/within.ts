/** One transaction on a connection that is already there. */
import { StoreUnreachableError } from '../errors.ts';
import { sql } from './sql.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Sends one statement and returns its rows. `name`: under which the connection keeps it. */
export type Send = (text: string, values?: readonly unknown[], name?: string) => Promise<Row[]>;

export interface Limits {
  readonly serverMs: number;
  /** Begins it, and says to the server what it has to know, in one message. */
  readonly opening?: string;
}

/** All of `act` in one transaction, whose statements the server ends after `serverMs`. */
export async function within<Answer>(
  send: Send,
  { serverMs, opening }: Limits,
  act: (send: Send) => Promise<Answer>,
): Promise<Answer> {
  await send(opening ?? sql`begin isolation level read committed`);
  try {
    if (opening === undefined) {
      await send(
        sql`select set_config('statement_timeout', $1, true),
                   set_config('idle_in_transaction_session_timeout', $1, true)`,
        [`${serverMs}ms`],
      );
    }
    const answer = await act(send);
    await send(sql`commit`);
    return answer;
  } catch (error) {
    if (!(error instanceof StoreUnreachableError)) await send(sql`rollback`);
    throw error;
  }
}
