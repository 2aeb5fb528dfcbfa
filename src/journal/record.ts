/**
 * A record as a row, and back. Each carries the hash of the one before it, so that a record that was
 * changed, lost from the middle or put elsewhere does not fit any more.
 */
import { hash, KeyMissingError, type RunId } from '../ground/index.ts';
import { EVENT_TYPES, type RunEvent } from '../machine/index.ts';
import { type Codec, recordPlace } from './codec.ts';
import { DamagedRunError, SealedRunError, UnknownRecordError } from './errors.ts';
import type { Entry, EventRow, StoredRecord } from './journal.ts';

/** The columns of a row in their order, as SQLite hands them out fastest. */
export type EventColumns = readonly [
  lsn: number,
  run: string,
  seq: number,
  at: number,
  epoch: number,
  event: string,
  state: string,
  data: string,
  hash: string,
];

export function eventRowOf(columns: EventColumns): EventRow {
  const [lsn, run, seq, at, epoch, event, state, data, hash] = columns;
  return { lsn, run, seq, at, epoch, event, state, data, hash };
}

type TextColumns = readonly [
  lsn: number,
  seq: number,
  at: number,
  epoch: number,
  event: string,
  state: string,
  data: string,
  hash: string,
];

/** All rows of a run from the text that SQLite has made of them. */
export function eventRowsOf(run: string, text: string): EventRow[] {
  return (JSON.parse(text) as TextColumns[]).map((columns) => {
    const [lsn, seq, at, epoch, event, state, data, hash] = columns;
    return { lsn, run, seq, at, epoch, event, state, data, hash };
  });
}

/** The hash before a run's first record. */
export const CHAIN_START = '';

/** An entry with everything computed that can be computed before the transaction. */
export interface Prepared {
  readonly entry: Entry;
  readonly data: string;
  readonly hash: string;
}

export function encodeEntry(entry: Entry, codec: Codec): Prepared {
  const { run, seq, event } = entry;
  const data = codec.encode(JSON.stringify(event), recordPlace(run, seq, event.type));
  return {
    entry,
    data,
    hash: chainHash(
      entry.prevHash,
      entry.run,
      entry.seq,
      entry.at,
      entry.epoch,
      entry.event.type,
      entry.state,
      data,
    ),
  };
}

function chainHash(
  prevHash: string,
  run: string,
  seq: number,
  at: number,
  epoch: number,
  event: string,
  state: string,
  data: string,
): string {
  return hash(`${prevHash}\n${run}\n${seq}\n${at}\n${epoch}\n${event}\n${state}\n${data}`);
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

/** Reads a run's rows in order; throws a DamagedRunError at the first that does not fit. */
export function decodeRows(run: RunId, rows: readonly EventRow[], codec: Codec): StoredRecord[] {
  if (rows.length === 0) throw new DamagedRunError(run, 'it has none');
  return decodeRowsAfter(run, rows, codec, { seq: -1, hash: CHAIN_START });
}

/** The same for those behind a record whose hash is known. */
export function decodeRowsAfter(
  run: RunId,
  rows: readonly EventRow[],
  codec: Codec,
  after: { readonly seq: number; readonly hash: string },
): StoredRecord[] {
  let prevHash = after.hash;
  return rows.map((row, index) => {
    const record = decodeRow(run, row, after.seq + 1 + index, prevHash, codec);
    prevHash = row.hash;
    return record;
  });
}

/**
 * From the front, what nobody has changed since it was written, and as much of it as is understood here.
 * The two differ where a newer version wrote, or another key: that is whole, and not ours to cut.
 */
export function provedPrefix(
  run: RunId,
  rows: readonly EventRow[],
  codec: Codec,
): { readonly rows: readonly EventRow[]; readonly records: readonly StoredRecord[] } {
  const records: StoredRecord[] = [];
  let [count, prevHash] = [0, CHAIN_START];
  for (const row of rows) {
    if (!isSound(() => proveRow(run, row, count, prevHash))) break;
    if (records.length === count) isSound(() => records.push(readRecord(run, row, codec)));
    [count, prevHash] = [count + 1, row.hash];
  }
  return { rows: rows.slice(0, count), records };
}

/** The same without a look at what they say, of rows behind a record whose hash is known. */
export function provedAfter(
  run: RunId,
  rows: readonly EventRow[],
  after: { readonly seq: number; readonly hash: string },
): readonly EventRow[] {
  let { seq, hash: prevHash } = after;
  const end = rows.findIndex((row) => {
    if (!isSound(() => proveRow(run, row, seq + 1, prevHash))) return true;
    [seq, prevHash] = [seq + 1, row.hash];
    return false;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

function isSound(look: () => void): boolean {
  try {
    look();
    return true;
  } catch (error) {
    if (error instanceof DamagedRunError) return false;
    throw error;
  }
}

function decodeRow(
  run: RunId,
  row: EventRow,
  seq: number,
  prevHash: string,
  codec: Codec,
): StoredRecord {
  proveRow(run, row, seq, prevHash);
  return readRecord(run, row, codec);
}

function proveRow(run: RunId, row: EventRow, seq: number, prevHash: string): void {
  if (!isEventRow(row)) throw new DamagedRunError(run, `record ${seq} has values of another kind`);
  if (row.seq !== seq) throw new DamagedRunError(run, `record ${seq} is missing`);
  const sum = chainHash(
    prevHash,
    row.run,
    row.seq,
    row.at,
    row.epoch,
    row.event,
    row.state,
    row.data,
  );
  if (sum !== row.hash) throw new DamagedRunError(run, `record ${seq} does not match its hash`);
}

/** The hash fits, so it was written like this: by another version, or with another key. */
function readRecord(run: RunId, row: EventRow, codec: Codec): StoredRecord {
  if (!KNOWN_TYPES.has(row.event)) {
    throw new UnknownRecordError(run, row.seq, row.event);
  }
  return {
    seq: row.seq,
    lsn: row.lsn,
    at: row.at,
    epoch: row.epoch,
    event: decodeEvent(run, row, codec),
    state: row.state,
    hash: row.hash,
  };
}

function decodeEvent(run: RunId, row: EventRow, codec: Codec): RunEvent {
  try {
    return JSON.parse(codec.decode(row.data, recordPlace(run, row.seq, row.event))) as RunEvent;
  } catch (cause) {
    if (cause instanceof KeyMissingError) throw new SealedRunError(run, cause);
    throw Object.assign(new DamagedRunError(run, `record ${row.seq} cannot be decoded`), { cause });
  }
}

/** A damaged value may have become bytes that read as the same text, and would pass for it. */
function isEventRow(row: EventRow): boolean {
  return (
    Number.isSafeInteger(row.lsn) &&
    Number.isSafeInteger(row.seq) &&
    Number.isSafeInteger(row.at) &&
    Number.isSafeInteger(row.epoch) &&
    typeof row.run === 'string' &&
    typeof row.event === 'string' &&
    typeof row.state === 'string' &&
    typeof row.data === 'string' &&
    typeof row.hash === 'string'
  );
}

export function groupByRun(rows: readonly EventRow[]): Map<string, EventRow[]> {
  const byRun = new Map<string, EventRow[]>();
  for (const row of rows) {
    const ofRun = byRun.get(row.run);
    if (ofRun) ofRun.push(row);
    else byRun.set(row.run, [row]);
  }
  return byRun;
}
