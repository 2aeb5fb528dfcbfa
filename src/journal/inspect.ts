/** What a journal that nobody holds has in it: in numbers, and run by run. */
import type { RunId } from '../ground/index.ts';
import { JournalDamagedError } from './errors.ts';
import { readHead } from './head.ts';
import * as sql from './journal.sql.ts';
import type { RunRow, StoredRecord } from './journal.ts';
import { type FileOptions, openCopy, openJournalFile } from './journal-file.ts';
import type { JournalReader } from './journal-reader.ts';
import type { Mark } from './mark-format.ts';
import { readMark } from './read-mark.ts';

export interface InspectReport {
  readonly id: string;
  readonly boot: number;
  readonly format: number;
  readonly lsn: number;
  readonly createdAt: number;
  readonly runs: { readonly unfinished: number; readonly finished: number };
  readonly records: number;
  readonly timers: number;
  readonly deadLetters: number;
  readonly bytes: number;
  readonly walBytes: number;
  readonly mark:
    | { readonly state: 'missing' | 'damaged' }
    | { readonly state: 'whole'; readonly lsn: number; readonly occupied: number };
}

/** One run with all that is known of it; `damage` says why its records are not there. */
export interface ExportedRun extends RunRow {
  readonly records: readonly StoredRecord[];
}

export function inspectJournal(dataDir: string): InspectReport {
  const copy = openCopy(dataDir);
  try {
    const head = copy.problems.length > 0 ? 'damaged' : readHead(copy.connection, copy.format);
    if (head === undefined || head === 'damaged') {
      const problem = copy.problems[0] ?? `its head is ${head ?? 'missing'}`;
      throw new JournalDamagedError(`the journal in ${dataDir} is damaged: ${problem}`, {
        hint: 'see all of it with: fleetq journal verify',
      });
    }
    const counts = copy.connection.prepare(sql.selectCounts).get() as {
      unfinished: number;
      finished: number;
      records: number;
      timers: number;
      dead_letters: number;
    };
    const { unfinished, finished, records, timers, dead_letters: deadLetters } = counts;
    return {
      ...head,
      runs: { unfinished, finished },
      records,
      timers,
      deadLetters,
      bytes: copy.bytes,
      walBytes: copy.walBytes,
      mark: showMark(readMark(copy.mark)),
    };
  } finally {
    copy.close();
  }
}

function showMark(mark: Mark | undefined | 'damaged'): InspectReport['mark'] {
  if (mark === undefined || mark === 'damaged') return { state: mark ?? 'missing' };
  return { state: 'whole', lsn: mark.lsn, occupied: mark.slots.size + mark.inherited.length };
}

/** Every run, newest first, or the one that is asked for; one that is damaged hides no other. */
export function* exportRuns(
  dataDir: string,
  { run, ...options }: FileOptions & { readonly run?: RunId | undefined } = {},
): Iterable<ExportedRun> {
  const { reader, close } = openJournalFile(dataDir, options);
  try {
    for (const row of run === undefined ? everyRow(reader) : oneRow(reader, run)) {
      yield exported(reader, row);
    }
  } finally {
    close();
  }
}

function oneRow(reader: JournalReader, run: RunId): RunRow[] {
  const row = reader.find(run);
  return row ? [row] : [];
}

const PAGE_COUNT = 500;

function* everyRow(reader: JournalReader): Iterable<RunRow> {
  let before: string | undefined;
  while (true) {
    const page = reader.list({ before, countMax: PAGE_COUNT });
    yield* page;
    before = page.at(-1)?.id;
    if (before === undefined) return;
  }
}

function exported(reader: JournalReader, row: RunRow): ExportedRun {
  try {
    return { ...row, records: reader.history(row.id) };
  } catch (error) {
    return { ...row, damage: row.damage ?? (error as Error).message, records: [] };
  }
}
