/**
 * What one handle has written, and which of its sessions are sure to see it. A session reads what it wrote
 * itself; what another session wrote it may read late, and the account says nowhere how late. A table
 * changes from one version to the next, and a session that reads its own write of a table reads all that
 * was written there before. So whoever is not sure writes a row of it once more, as it is, and then reads.
 */
import { TABLES, type Table } from './columns.ts';
import type { Session } from './executor.ts';

interface Written {
  /** Of writes that were answered, or may have been done without an answer. */
  count: number;
  /** The session of the last one, and what all others had come to. */
  by: Session | undefined;
  others: number;
}

export class OwnWrites {
  readonly #written = new Map<Table, Written>();
  readonly #seen = new WeakMap<Session, Map<Table, number>>();

  /** What is known when a statement is sent; what comes later it may have missed. */
  countOf(table: Table): number {
    return this.#written.get(table)?.count ?? 0;
  }

  /** `session` is nobody where no answer came. `before` is what was known when it was sent. */
  note(table: Table, before: number, session?: Session): void {
    const { count = 0, by, others = 0 } = this.#written.get(table) ?? {};
    const isSame = session !== undefined && by === session;
    const written = { count: count + 1, by: session, others: isSame ? others : count };
    this.#written.set(table, written);
    if (session) this.saw(table, before, session);
  }

  /** It has read, or written, the table as it was at least then. */
  saw(table: Table, before: number, session: Session): void {
    const seen = this.#seen.get(session) ?? new Map<Table, number>();
    this.#seen.set(session, seen);
    seen.set(table, Math.max(before, seen.get(table) ?? 0));
  }

  isBehind(session: Session, table: Table): boolean {
    const written = this.#written.get(table);
    if (!written) return false;
    const wanted = written.by === session ? written.others : written.count;
    return (this.#seen.get(session)?.get(table) ?? 0) < wanted;
  }

  /** Where the session stands that has the least to catch up with; of several the last. */
  surest(sessions: readonly Session[]): number {
    const behind = sessions.map(
      (session) => TABLES.filter((table) => this.isBehind(session, table)).length,
    );
    return behind.lastIndexOf(Math.min(...behind));
  }
}

interface Concerned {
  readonly reads: readonly Table[];
  readonly writes: Table | undefined;
}

/** The store sends few texts, always the same: each is looked at once. */
const concerned = new Map<string, Concerned>();

export function tablesOf(text: string): Concerned {
  const known = concerned.get(text);
  if (known) return known;
  const [, verb = '', name = ''] =
    /^\s*(select|insert into|update|merge into|delete from)\s+(\w+)/i.exec(text) ?? [];
  const isRead = verb.toLowerCase() === 'select';
  const found = {
    reads: isRead ? TABLES.filter((table) => new RegExp(`\\b${table.name}\\b`).test(text)) : [],
    writes: isRead ? undefined : TABLES.find((table) => table.name === name.toLowerCase()),
  };
  concerned.set(text, found);
  return found;
}
