/**
 * Deletes what nobody needs any more of runs that have ended: their events first, much later the rows.
 * Rows without events are kept for long, so there may be millions of them; a pass must not read them
 * again each time. It walks the runs in the order they ended and remembers how far it has come:
 *
 *   ended    oldest ├── looked at ──┼── next page ──┼── later pages ──┤ before   kept with their events
 *
 * The place is kept in memory only. A new process walks from the oldest again, a page a turn, and the
 * format of the file, which other versions have to read, is as it was.
 */
import type { Connection } from './connection.ts';
import * as sql from './journal.sql.ts';
import type { Pruned, RetentionLimits } from './journal.ts';

/** Gives the last lsn that was used to `act`, and makes what it does one transaction. */
type Transact = (act: (lsn: number) => number) => void;

interface Ended {
  readonly id: string;
  readonly at: number;
  readonly has_events: number;
}

const OLDEST = { at: Number.MIN_SAFE_INTEGER, id: '' } as const;

export class Retention {
  readonly #connection: Connection;
  readonly #transact: Transact;
  /** Of runs that ended up to here no events are left. */
  #walkedTo: { readonly at: number; readonly id: string } = OLDEST;

  constructor(connection: Connection, transact: Transact) {
    this.#connection = connection;
    this.#transact = transact;
  }

  /** Only what has ended; looks at no more than `countMax` runs for events, and as many for rows. */
  prune(before: RetentionLimits, countMax: number): Pruned {
    // A clock that was set back may have let runs end before what was already walked.
    if (before.events < this.#walkedTo.at) this.#walkedTo = OLDEST;
    const { at, id } = this.#walkedTo;
    const page = this.#all<Ended>(sql.selectEndedAfter, before.events, at, id, countMax);
    const emptied = page.filter((run) => run.has_events === 1);
    const forgotten = this.#all<{ id: string }>(sql.selectForgettable, before.rows, countMax);
    if (emptied.length + forgotten.length > 0) this.#delete(emptied, forgotten);
    this.#walkedTo = page.at(-1) ?? this.#walkedTo;
    return {
      runs: new Set([...emptied, ...forgotten].map((run) => run.id)).size,
      looked: page.length + forgotten.length,
      isMore: page.length === countMax || forgotten.length === countMax,
    };
  }

  #delete(emptied: readonly Ended[], forgotten: readonly { readonly id: string }[]): void {
    const deleteEvents = this.#connection.prepare(sql.deleteEvents);
    const deleteRun = this.#connection.prepare(sql.deleteRun);
    this.#transact((lsn) => {
      for (const { id } of [...emptied, ...forgotten]) deleteEvents.run(id);
      for (const { id } of forgotten) deleteRun.run(id);
      return lsn + 1;
    });
  }

  #all<T>(text: string, ...values: (string | number)[]): T[] {
    return this.#connection.prepare(text).all(...values) as T[];
  }
}
