/** Runs as the file tells them, where no process holds it. Nothing is written, nothing is resumed. */
import type { RunReader } from '../admin/index.ts';
import { Inspector, type RunSummary } from '../engine/index.ts';
import type { Clock, Codec, RunId } from '../ground/index.ts';
import {
  type EventRow,
  type JournalFile,
  lookingCodec,
  openJournalFile,
  type RunFilter,
  type StoredRecord,
} from '../journal/index.ts';
import { refuseNoJournal } from './no-journal.ts';

export class OfflineReader implements RunReader {
  readonly #file: JournalFile;
  readonly #inspector: Inspector;

  constructor(dataDir: string, clock: Clock, codec: Codec) {
    refuseNoJournal(dataDir);
    this.#file = openJournalFile(dataDir, { codec: lookingCodec(codec) });
    const nothing = { liveRun: () => undefined, setAside: () => undefined };
    this.#inspector = new Inspector(this.#file.reader, clock, nothing);
  }

  close(): void {
    this.#file.close();
  }

  runs(filter: RunFilter): RunSummary[] {
    return this.#inspector.list(filter);
  }
  describe(id: string): RunSummary {
    return this.#inspector.describe(id);
  }
  /** Of a run that there is, as they are stored: what is sealed stays so. */
  rows(id: string): EventRow[] {
    return this.#file.reader.rows(this.describe(id).id as RunId);
  }
  events(id: string, afterSeq?: number): StoredRecord[] {
    return this.#inspector.events(id, afterSeq);
  }
  page(id: string, afterSeq: number, bytesMax: number): StoredRecord[] {
    return this.#inspector.page(id, afterSeq, bytesMax);
  }
  lastSeq(id: string): number {
    return this.#inspector.lastSeq(id);
  }
}
