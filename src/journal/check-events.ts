/**
 * Looks through the records of runs, some at a time, while the process is at work: of a large file the
 * start reads only what it needs. Whatever is damaged is named, and harms no other run.
 */
import type { RunId } from '../ground/index.ts';
import type { Connection } from './connection.ts';
import { DamagedRunError } from './errors.ts';
import * as sql from './journal.sql.ts';
import type { DamagedRun, EventCheck, RunRow, StoredRecord } from './journal.ts';

/** Besides the last run, which is read whole: a turn must not hold up the runs at work. */
const RECORDS_MAX = 1_000;

interface Reader {
  find(run: RunId): RunRow | undefined;
  history(run: RunId): readonly StoredRecord[];
}

export function checkEvents(
  connection: Connection,
  reader: Reader,
  after: string,
  countMax: number,
): EventCheck {
  const damaged: DamagedRun[] = [];
  const rows = connection.prepare(sql.selectRunIdsAfter).all(after, countMax) as { id: RunId }[];
  let last: RunId | undefined;
  let records = 0;
  for (const { id } of rows) {
    if (records > RECORDS_MAX) break;
    last = id;
    try {
      records += reader.history(id).length;
    } catch (error) {
      if (!(error instanceof DamagedRunError)) throw error;
      damaged.push({ run: id, row: liveRow(reader, id), reason: error.message });
    }
  }
  return { last, damaged };
}

/** Undefined for a run that has ended: it answers by its row, whatever became of its records. */
function liveRow(reader: Reader, id: RunId): RunRow | undefined {
  try {
    const row = reader.find(id);
    return row?.finishedAt === undefined ? row : undefined;
  } catch (error) {
    if (!(error instanceof DamagedRunError)) throw error;
    return undefined;
  }
}
