/**
 * What to do with a file that SQLite finds broken: put it aside, and carry over every run whose
 * records still prove themselves by their hashes. What cannot be proved stays in quarantine, and the
 * alarm says how much that is. Nothing is guessed.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import type { RunId } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import type { Connection } from './connection.ts';
import * as sql from './journal.sql.ts';
import type { StoredRecord } from './journal.ts';
import type { Place } from './place.ts';
import { CHAIN_START, decodeRows, type EventRow, groupByRun } from './record.ts';
import { type RawRunRow, readRunRow } from './run-row.ts';

export interface Salvage {
  readonly movedTo: string;
  readonly rows: readonly RawRunRow[];
  readonly events: readonly EventRow[];
  readonly timers: readonly { readonly run: string; readonly dueAt: number }[];
  /** Runs of which something, or everything after some record, could not be proved. */
  readonly damagedRuns: readonly string[];
}

/** Moves the broken file into quarantine and reads what can still be proved. */
export function salvage(place: Place, codec: Codec, stamp: string): Salvage {
  mkdirSync(place.quarantine, { recursive: true, mode: 0o700 });
  const movedTo = join(place.quarantine, `${stamp}-${basename(place.journal)}`);
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(place.journal + suffix)) renameSync(place.journal + suffix, movedTo + suffix);
  }
  return { movedTo, ...readProvable(movedTo, codec) };
}

function readProvable(file: string, codec: Codec): Omit<Salvage, 'movedTo'> {
  const nothing = { rows: [], events: [], timers: [], damagedRuns: [] };
  let connection: Connection;
  try {
    connection = new Database(file, { timeout: 0 });
  } catch {
    return nothing;
  }
  try {
    const raw = new Map<string, RawRunRow>();
    for (const row of readable<RawRunRow>(connection, 'runs')) raw.set(row.id, row);
    return proveRuns(raw, groupByRun(readable<EventRow>(connection, 'events')), codec);
  } finally {
    connection.close();
  }
}

/** Every row that can be read, from the front and, past a broken page, from the back. */
function readable<Row>(connection: Connection, table: 'runs' | 'events'): Row[] {
  const rows = new Map<unknown, Row>();
  const key = table === 'runs' ? 'id' : 'lsn';
  for (const direction of ['asc', 'desc']) {
    try {
      // `not indexed`: a broken index must not hide rows of the table.
      const from = table === 'runs' ? 'runs' : 'events not indexed';
      const all = connection
        .prepare(`select * from ${from} order by ${key} ${direction}`)
        .iterate();
      for (const row of all) rows.set((row as Record<string, unknown>)[key], row as Row);
      break;
    } catch {
      // The rows read so far are kept; the other direction may find the rest.
    }
  }
  return [...rows.values()];
}

function proveRuns(
  raw: ReadonlyMap<string, RawRunRow>,
  byRun: ReadonlyMap<string, readonly EventRow[]>,
  codec: Codec,
): Omit<Salvage, 'movedTo'> {
  const rows: RawRunRow[] = [];
  const events: EventRow[] = [];
  const timers: { run: string; dueAt: number }[] = [];
  const damagedRuns: string[] = [];
  for (const id of new Set([...raw.keys(), ...byRun.keys()])) {
    const ofRun = [...(byRun.get(id) ?? [])].sort((a, b) => a.seq - b.seq);
    const proved = provedPrefix(id as RunId, ofRun, codec);
    const row = sealedRow(raw.get(id), codec) ?? unfinishedRow(id, proved.records);
    const isWhole =
      row !== undefined && proved.records.length === ofRun.length && isUsable(row, proved.records);
    if (!isWhole) damagedRuns.push(id);
    if (row === undefined || !isUsable(row, proved.records)) continue;
    rows.push(row);
    events.push(...proved.rows);
    const dueAt = dueAtOf(proved.records.at(-1));
    if (row.finished_at === null && dueAt !== undefined) timers.push({ run: id, dueAt });
  }
  return { rows, events, timers, damagedRuns };
}

function provedPrefix(
  run: RunId,
  rows: readonly EventRow[],
  codec: Codec,
): { rows: EventRow[]; records: StoredRecord[] } {
  for (let count = rows.length; count > 0; count--) {
    const prefix = rows.slice(0, count);
    try {
      return { rows: prefix, records: decodeRows(run, prefix, codec) };
    } catch {
      // One record fewer, then.
    }
  }
  return { rows: [], records: [] };
}

/** An ended run answers by its seal, whether or not its events are still there. */
function sealedRow(row: RawRunRow | undefined, codec: Codec): RawRunRow | undefined {
  if (row === undefined || row.finished_at === null) return undefined;
  try {
    readRunRow(row, codec);
    return row;
  } catch {
    return undefined;
  }
}

/** The row of a run that has not ended is all in its first record. */
function unfinishedRow(id: string, records: readonly StoredRecord[]): RawRunRow | undefined {
  const first = records[0];
  if (first?.event.type !== 'STARTED') return undefined;
  return {
    id,
    machine: first.event.machine,
    version: first.event.version,
    key: first.event.key ?? null,
    started_at: first.at,
    finished_at: null,
    outcome: null,
    ending: null,
    last_seq: null,
    last_hash: null,
    seal: null,
  };
}

/** An ended run needs its row only; a live one must not look ended in its records. */
function isUsable(row: RawRunRow, records: readonly StoredRecord[]): boolean {
  if (row.finished_at === null) return records.length > 0 && records.at(-1)!.state.includes('.');
  return records.length === 0 || (records.at(-1)?.hash ?? CHAIN_START) === row.last_hash;
}

function dueAtOf(record: StoredRecord | undefined): number | undefined {
  const event = record?.event;
  return event && 'dueAt' in event ? event.dueAt : undefined;
}

/** Writes what was salvaged into a fresh journal, in one transaction; answers the highest lsn. */
export function restore(connection: Connection, found: Salvage): number {
  const putRow = connection.prepare(`
    insert into runs (id, machine, version, key, started_at, finished_at, outcome, ending, last_seq, last_hash, seal)
    values (@id, @machine, @version, @key, @started_at, @finished_at, @outcome, @ending, @last_seq, @last_hash, @seal)`);
  const putEvent = connection.prepare(sql.insertEvent);
  const putTimer = connection.prepare(sql.armTimer);
  let lsnMax = 0;
  connection.transaction(() => {
    for (const row of found.rows) putRow.run(row);
    for (const { lsn, run, seq, at, epoch, event, state, data, hash } of found.events) {
      putEvent.run(lsn, run, seq, at, epoch, event, state, data, hash);
      lsnMax = Math.max(lsnMax, lsn);
    }
    for (const { run, dueAt } of found.timers) putTimer.run(run, dueAt);
  })();
  return lsnMax;
}
