/**
 * The dead letters of the fleet, kept on this host with their evidence: a projection of the store,
 * which is the truth. It may be deleted at any time and is built again; so it is not synced to disk,
 * and a file that cannot be read is replaced.
 */
import { rmSync } from 'node:fs';
import {
  assert,
  openDatabase,
  type RunId,
  type SqliteDatabase,
  SqliteUnavailableError,
} from '../ground/index.ts';
import type { Segment, Store, TaskRow } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';

export interface DeadLetterEntry {
  readonly task: RunId;
  readonly generation: number;
  readonly machine: string;
  readonly version: number;
  readonly outcome: string;
  /** JSON text. */
  readonly error: string;
  readonly payload: string | undefined;
  /** The segments of its history, as they are stored: JSON text of an array. */
  readonly evidence: string;
  readonly finishedAt: number;
}

export interface DeadLetters {
  /** Brings the projection up to date; answers how many there are. */
  refresh(): Promise<number>;
  list(countMax: number): DeadLetterEntry[];
  find(task: string): DeadLetterEntry | undefined;
  /** For good: a refresh that is still on its way changes nothing any more. */
  close(): void;
}

const PAGE_COUNT = 200;
/** A flood of failures must not fill the disk: the newest are kept, the store has them all. */
const KEPT_COUNT_MAX = 10_000;

const CREATE = `
  create table if not exists dead_letters (
    task text not null, generation integer not null, machine text not null, version integer not null,
    outcome text not null, error text not null, payload text, evidence text not null,
    finished_at integer not null, primary key (task, generation)) strict`;

export class SqliteDeadLetters implements DeadLetters {
  readonly #path: string;
  readonly #store: Pick<Store, 'list' | 'histories'>;
  #database: SqliteDatabase | undefined;
  #isClosed = false;

  constructor(path: string, store: Pick<Store, 'list' | 'histories'>) {
    this.#path = path;
    this.#store = store;
  }

  async refresh(): Promise<number> {
    if (this.#isClosed) return 0;
    const known = new Map(this.#keys().map((key) => [nameOf(key), key]));
    const current = new Set<string>();
    let before: string | undefined;
    while (current.size < KEPT_COUNT_MAX) {
      const page = await this.#store.list({ isDeadLetter: true, before, countMax: PAGE_COUNT });
      const fresh = page.filter((row) => !known.has(nameOf(row)));
      const segments = await this.#store.histories(
        fresh.map(({ id, generation }) => ({ task: id, generation })),
      );
      if (this.#isClosed) return 0;
      this.#put(fresh, segments);
      for (const row of page) current.add(nameOf(row));
      if (page.length < PAGE_COUNT) break;
      before = page.at(-1)!.id;
    }
    const gone = [...known].filter(([name]) => !current.has(name));
    this.#remove(gone.map(([, key]) => key));
    return current.size;
  }

  list(countMax: number): DeadLetterEntry[] {
    const rows = this.#open()
      .prepare('select * from dead_letters order by finished_at desc limit ?')
      .all(countMax);
    return (rows as StoredRow[]).map(entryOf);
  }

  find(task: string): DeadLetterEntry | undefined {
    const row = this.#open()
      .prepare('select * from dead_letters where task = ? order by generation desc limit 1')
      .get(task);
    return row === undefined ? undefined : entryOf(row as StoredRow);
  }

  close(): void {
    this.#isClosed = true;
    this.#database?.close();
    this.#database = undefined;
  }

  #keys(): Key[] {
    const rows = this.#open().prepare('select task as id, generation from dead_letters').all();
    return rows as Key[];
  }

  #put(rows: readonly TaskRow[], segments: readonly Segment[]): void {
    const insert = this.#open().prepare(
      'insert or replace into dead_letters values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    const evidenceOf = ({ id, generation }: TaskRow) =>
      JSON.stringify(segments.filter((s) => s.task === id && s.generation === generation));
    this.#open().transaction(() => {
      for (const row of rows) {
        insert.run(
          row.id,
          row.generation,
          row.machine,
          row.version,
          row.outcome ?? 'aborted',
          row.error ?? '{}',
          row.payload ?? null,
          evidenceOf(row),
          row.finishedAt ?? row.updatedAt,
        );
      }
    })();
  }

  #remove(keys: readonly Key[]): void {
    const remove = this.#open().prepare(
      'delete from dead_letters where task = ? and generation = ?',
    );
    this.#open().transaction(() => {
      for (const { id, generation } of keys) remove.run(id, generation);
    })();
  }

  #open(): SqliteDatabase {
    assert(!this.#isClosed, 'the copy of the dead letters is closed');
    if (this.#database) return this.#database;
    try {
      this.#database = openFile(this.#path);
    } catch (error) {
      if (error instanceof SqliteUnavailableError) throw error;
      tell('journal.alarm', () => ({
        kind: 'deadLettersReplaced',
        message: `the copy of the dead letters could not be read and is built again: ${error}`,
      }));
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${this.#path}${suffix}`, { force: true });
      this.#database = openFile(this.#path);
    }
    return this.#database;
  }
}

function openFile(path: string): SqliteDatabase {
  const database = openDatabase(path);
  try {
    database.pragma('journal_mode = wal');
    database.pragma('synchronous = off');
    database.exec(CREATE);
    database.prepare('select count(*) from dead_letters').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

type Key = Pick<TaskRow, 'id' | 'generation'>;

function nameOf({ id, generation }: Key): string {
  return `${id}\n${generation}`;
}

interface StoredRow extends Omit<DeadLetterEntry, 'finishedAt' | 'payload'> {
  readonly payload: string | null;
  readonly finished_at: number;
}

function entryOf({ finished_at: finishedAt, payload, ...rest }: StoredRow): DeadLetterEntry {
  return { ...rest, payload: payload ?? undefined, finishedAt };
}
