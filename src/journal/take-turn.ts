/**
 * Being the next to hold a data directory. One process at a time may wait for its holder to let go: of
 * two, the one that comes first would go on with code that the other was to replace.
 */
import { chmodSync, lstatSync } from 'node:fs';
import { openDatabase } from '../ground/index.ts';
import { isBusy } from './connection.ts';
import { HandoverTakenError } from './errors.ts';
import { describeHolder, type Place } from './place.ts';

/** Answers how to give the turn up; a process that dies has given it up. */
export function takeTurn(place: Place): () => void {
  const connection = openDatabase(place.next, { timeout: 0 });
  try {
    if ((lstatSync(place.next).mode & 0o077) !== 0) chmodSync(place.next, 0o600);
    connection.pragma('journal_mode = MEMORY');
    connection.exec('begin exclusive');
  } catch (error) {
    connection.close();
    if (isBusy(error)) throw new HandoverTakenError(place.directory, describeHolder(place));
    throw error;
  }
  return () => connection.close();
}
