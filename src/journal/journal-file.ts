/**
 * The file of a journal that nobody holds, opened to look at it: nothing is resumed, counted as a
 * boot, repaired or marked, so that the next process finds what the last one left.
 */
import { type Codec, identityCodec } from './codec.ts';
import { type Connection, isBusy, isSqlite, openConnection } from './connection.ts';
import { JournalDamagedError, JournalHeldError } from './errors.ts';
import { JournalReader } from './journal-reader.ts';
import { migrate } from './migrate.ts';
import { describeHolder, isHeldHere, type Place, placeOf } from './place.ts';

export interface JournalFile {
  readonly reader: JournalReader;
  close(): void;
}

export function openJournalFile(directory: string, codec: Codec = identityCodec): JournalFile {
  const place = placeOf(directory);
  if (isHeldHere(place)) throw heldBy(place);
  let connection: Connection | undefined;
  try {
    connection = openConnection(place.journal);
    migrate(connection);
    return { reader: new JournalReader(connection, codec), close: () => connection?.close() };
  } catch (error) {
    connection?.close();
    if (isBusy(error)) throw heldBy(place);
    if (!isSqlite(error)) throw error;
    throw new JournalDamagedError(`the journal ${place.journal} cannot be read`, {
      cause: error,
      hint: 'look at it with: fleetq journal verify; the next process that opens it salvages it',
    });
  }
}

function heldBy(place: Place): JournalHeldError {
  return new JournalHeldError(place.directory, describeHolder(place));
}
