/** What every command says that reads a file, where there is none, or nothing that may be read. */
import { existsSync } from 'node:fs';
import { placeOf, refuseUnfit } from '../journal/index.ts';
import { NoJournalError } from './errors.ts';

export function refuseNoJournal(dataDir: string): void {
  const place = placeOf(dataDir);
  // First, since a link that leads nowhere, or a directory that is closed, looks like an empty one.
  refuseUnfit(place);
  if (!existsSync(place.journal)) throw new NoJournalError(place.directory);
}
