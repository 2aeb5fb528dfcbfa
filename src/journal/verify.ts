/**
 * Reads a journal that nobody holds from end to end: SQLite's own check, every chain, every seal,
 * every row against its records, every timer, and the head against the mark.
 */
import type { RunId } from '../ground/index.ts';
import { type Codec, identityCodec, isSealedEvent, lookingCodec } from './codec.ts';
import { type Connection, integrityProblems } from './connection.ts';
import { DamagedRunError } from './errors.ts';
import { type Head, readHead } from './head.ts';
import * as sql from './journal.sql.ts';
import type { EventRow } from './journal.ts';
import { type FileOptions, openCopy } from './journal-file.ts';
import { readMark } from './read-mark.ts';
import { decodeRows } from './record.ts';
import { dueAtOf, hasEnded, type RawRunRow, readRunRow, refuseOtherEnd } from './run-row.ts';

export interface Problem {
  readonly run?: string;
  readonly message: string;
}
export interface VerifyReport {
  readonly runs: number;
  readonly records: number;
  /** How many of them could not be opened for want of their key: their chain is looked at all the same. */
  readonly sealed: number;
  /** Empty where all is well; the first thousand of them. */
  readonly problems: readonly Problem[];
}

const PAGE_COUNT = 1_000;
const PROBLEM_COUNT_MAX = 1_000;

export function verifyJournal(dataDir: string, options: FileOptions = {}): VerifyReport {
  const copy = openCopy(dataDir);
  const problems: Problem[] = copy.problems.map((message) => ({ message }));
  const found = { runs: 0, records: 0, sealed: 0 };
  const say = (problem: Problem) => {
    if (problems.length < PROBLEM_COUNT_MAX) problems.push(problem);
  };
  /** A part that cannot even be read must not keep the others from being looked at. */
  const attempt = (look: () => void) => {
    try {
      look();
    } catch (error) {
      say({ message: (error as Error).message });
    }
  };
  try {
    const { connection } = copy;
    const codec = lookingCodec(options.codec ?? identityCodec);
    attempt(() => {
      for (const message of integrityProblems(connection)) say({ message });
    });
    attempt(() => verifyHead(connection, copy.format, copy.mark, say));
    attempt(() => {
      for (const row of everyRun(connection)) {
        found.runs += 1;
        const { records, sealed } = verifyRun(connection, row, codec, say);
        found.records += records;
        found.sealed += sealed;
      }
    });
    attempt(() => verifyOrphans(connection, say));
  } finally {
    copy.close();
  }
  return { ...found, problems };
}

type Say = (problem: Problem) => void;

function verifyHead(connection: Connection, format: number, markFile: string, say: Say): void {
  const head = readHead(connection, format);
  if (head === undefined || head === 'damaged') {
    return say({ message: `the head is ${head ?? 'missing'}` });
  }
  const { lsn, epoch } = connection.prepare(sql.selectHighest).get() as {
    lsn: number | null;
    epoch: number | null;
  };
  if ((lsn ?? 0) > head.lsn) {
    say({ message: `record ${lsn} is beyond the head, which says ${head.lsn}` });
  }
  if ((epoch ?? 0) > head.boot) {
    say({ message: `a record is of boot ${epoch}, and the head says ${head.boot}` });
  }
  verifyMark(head, markFile, say);
}

function verifyMark(head: Head, file: string, say: Say): void {
  const mark = readMark(file);
  if (mark === undefined || mark === 'damaged') {
    return say({ message: `the mark beside the journal is ${mark ?? 'missing'}` });
  }
  if (mark.journalId !== head.id) {
    return say({ message: `the mark is of journal ${mark.journalId}, this is ${head.id}` });
  }
  if (mark.lsn > head.lsn) {
    say({ message: `records were lost: the journal ends at ${head.lsn}, and had ${mark.lsn}` });
  }
}

/** Answers how many records the run has, and for how many there is no key. */
function verifyRun(connection: Connection, row: RawRunRow, codec: Codec, say: Say) {
  let sealed = 0;
  const events = connection.prepare(sql.selectEvents).all(row.id) as EventRow[];
  try {
    readRunRow(row, codec);
    // Retention may have taken the records of an ended run, all of them.
    if (row.finished_at !== null && events.length === 0) return { records: 0, sealed };
    const records = decodeRows(row.id as RunId, events, codec);
    sealed = records.filter(({ event }) => isSealedEvent(event)).length;
    refuseOtherEnd(row, records);
    const mayEnd = row.finished_at !== null || row.generation !== null;
    if (!mayEnd && hasEnded(records)) {
      throw new DamagedRunError(row.id, 'its records have ended and its row has not');
    }
    const timer = connection.prepare(sql.selectTimer).get(row.id) as { due_at: number } | undefined;
    if (timer && sealed === 0 && timer.due_at !== dueAtOf(records)) {
      throw new DamagedRunError(row.id, 'its timer and its last record differ');
    }
  } catch (error) {
    if (!(error instanceof DamagedRunError)) throw error;
    say({ run: row.id, message: error.message });
  }
  return { records: events.length, sealed };
}

function verifyOrphans(connection: Connection, say: Say): void {
  for (const [text, what] of [
    [sql.selectOrphanEvents, 'there are records of it, and no row'],
    [sql.selectOrphanTimers, 'there is a timer for it, and it does not wait'],
  ] as const) {
    const orphans = connection.prepare(text).all(PROBLEM_COUNT_MAX) as { run: string }[];
    for (const { run } of orphans) say({ run, message: `run ${run}: ${what}` });
  }
}

/** Every row, oldest first, in pages. */
export function* everyRun(connection: Connection): Iterable<RawRunRow> {
  const page = connection.prepare(sql.selectRunsAfter);
  let after = '';
  while (true) {
    const rows = page.all(after, PAGE_COUNT) as RawRunRow[];
    yield* rows;
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}
