/**
 * Old views of the tables, for sessions that see the writes of others late. A view is kept open by a
 * transaction of its own and is given to whoever reads; while a new one is made the last one serves.
 */
import type pg from 'pg';

interface Snapshot {
  readonly client: pg.Client;
  readonly id: string;
  readonly takenMs: number;
  users: number;
}

export class Snapshots {
  readonly #connect: () => pg.Client;
  #current: Snapshot | undefined;
  #making: Promise<void> | undefined;
  #isOver = false;

  constructor(connect: () => pg.Client) {
    this.#connect = connect;
  }

  /** Runs `read` with a view not older than `ageMs` and not from before `sinceMs`; or with none. */
  async with<T>(
    ageMs: number,
    sinceMs: number,
    read: (snapshot: string | undefined) => Promise<T>,
  ): Promise<T> {
    const now = performance.now();
    if (this.#current === undefined || now - this.#current.takenMs > ageMs) await this.#renew();
    const snapshot = this.#current;
    if (snapshot === undefined || snapshot.takenMs <= sinceMs) return read(undefined);
    snapshot.users += 1;
    try {
      return await read(snapshot.id);
    } finally {
      snapshot.users -= 1;
      if (snapshot !== this.#current && snapshot.users === 0) await snapshot.client.end();
    }
  }

  /** From now on everybody sees what is there. */
  async forget(): Promise<void> {
    await this.#making;
    await this.#make();
  }

  #renew(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<void> {
    if (this.#isOver) return;
    const client = this.#connect();
    await client.connect();
    const takenMs = performance.now();
    await client.query('begin isolation level repeatable read');
    const { rows } = await client.query('select pg_export_snapshot() as id');
    const last = this.#current;
    this.#current = { client, id: (rows[0] as { id: string }).id, takenMs, users: 0 };
    if (last?.users === 0) await last.client.end();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#making;
    await this.#current?.client.end();
    this.#current = undefined;
  }
}
