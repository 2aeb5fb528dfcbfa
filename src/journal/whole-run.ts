/** A run that was read with all its records as one text, as SQLite hands many of them out fastest. */
import type { Codec } from './codec.ts';
import { unlessDamaged } from './errors.ts';
import type { WholeRun } from './journal.ts';
import { decodeRows, eventRowsOf } from './record.ts';
import { type OpenColumns, openRow, readRunRow, refuseOtherStart } from './run-row.ts';

export type WholeColumns = readonly [...OpenColumns, records: string];

/** Undefined where anything of it cannot be trusted. */
export function wholeRun(columns: WholeColumns, codec: Codec): WholeRun | undefined {
  return unlessDamaged(() => {
    const raw = openRow(columns);
    const row = readRunRow(raw, codec);
    const rows = eventRowsOf(row.id, columns[6]);
    const records = decodeRows(row.id, rows, codec);
    refuseOtherStart(raw, records);
    return { row, rows, records };
  });
}
