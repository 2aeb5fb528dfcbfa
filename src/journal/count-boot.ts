/** The first write: takes the file's lock for good, and counts this opening. */
import type { Ballast } from './ballast.ts';
import { type Connection, isDiskFailure } from './connection.ts';
import { JournalPlaceError } from './errors.ts';
import { type Head, writeHead } from './head.ts';

export function countBoot(connection: Connection, found: Head, ballast: Ballast): Head {
  const head = { ...found, boot: found.boot + 1, lsn: found.lsn + 1 };
  const write = connection.transaction(() => writeHead(connection, head));
  try {
    write.immediate();
  } catch (error) {
    if (!isDiskFailure(error)) throw error;
    // The ballast of a predecessor is there for this.
    if (!ballast.hold() || !ballast.release()) throw cannotBegin(error as Error);
    try {
      write.immediate();
    } catch (again) {
      throw isDiskFailure(again) ? cannotBegin(again as Error) : again;
    }
  }
  return head;
}

function cannotBegin(cause: Error): JournalPlaceError {
  return new JournalPlaceError(`the journal cannot be written: ${cause.message}`, {
    cause,
    hint: 'free space in the data directory and start again; nothing was lost',
  });
}
