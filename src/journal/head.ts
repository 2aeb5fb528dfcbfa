/** The one row that says which journal this is, how often it was opened, and how far it has come. */
import { hash } from '../ground/index.ts';
import type { Connection } from './connection.ts';
import * as sql from './journal.sql.ts';

export interface Head {
  readonly id: string;
  /** How often the journal has been opened to write. */
  readonly boot: number;
  readonly lsn: number;
  readonly createdAt: number;
  /** Of the tables: sealed too, since SQLite keeps it in a header that nothing protects. */
  readonly format: number;
}

export function sealHead({ format, id, boot, lsn, createdAt }: Head): string {
  return hash(`${format}\n${id}\n${boot}\n${lsn}\n${createdAt}`);
}

/** The head; undefined where there is none yet, 'damaged' where its seal does not fit. */
export function readHead(connection: Connection, format: number): Head | undefined | 'damaged' {
  const row = connection.prepare(sql.selectHead).get() as
    | { id: string; boot: number; lsn: number; created_at: number; seal: string }
    | undefined;
  if (row === undefined) return undefined;
  const { id, boot, lsn, created_at: createdAt, seal } = row;
  const head = { id, boot, lsn, createdAt, format };
  return sealHead(head) === seal ? head : 'damaged';
}

export function writeHead(connection: Connection, head: Head): void {
  const { id, boot, lsn, createdAt } = head;
  connection.prepare(sql.putHead).run(id, boot, lsn, createdAt, sealHead(head));
}
