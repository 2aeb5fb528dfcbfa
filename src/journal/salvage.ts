/**
 * What can still be proved of a broken file: every run whose records fit their hashes, every ended
 * run whose row fits its seal. It is read from a copy, since SQLite changes a file by opening it, and
 * the broken one is evidence. What cannot be proved stays behind, and the alarm says how much that
 * is. Nothing is guessed.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { RunId } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import type { Connection } from './connection.ts';
import { mendHeader } from './file-header.ts';
import * as sql from './journal.sql.ts';
import type { StoredRecord } from './journal.ts';
import type { Place } from './place.ts';
import { decodeRows, type EventRow, groupByRun } from './record.ts';
import { dueAtOf, type RawRunRow, readRunRow, unfinishedRow } from './run-row.ts';

export interface Salvage {
  readonly rows: readonly RawRunRow[];
  readonly events: readonly EventRow[];
  readonly timers: readonly { readonly run: string; readonly dueAt: number }[];
  /** Runs of which something, or everything after some record, could not be proved. */
  readonly damagedRuns: readonly string[];
  readonly lsn: number;
  readonly boot: number;
}

const COPY_NAME = 'journal.reading-';
const NOTHING: Salvage = { rows: [], events: [], timers: [], damagedRuns: [], lsn: 0, boot: 0 };

/** Reads what can be proved of the place's journal, and leaves its files as they are. */
export function salvage(place: Place, codec: Codec): Salvage {
  for (const name of readdirSync(place.directory)) {
    // Left by a process that died while it read.
    if (name.startsWith(COPY_NAME)) rmSync(join(place.directory, name), { recursive: true });
  }
  const directory = mkdtempSync(join(place.directory, COPY_NAME));
  try {
    const copy = join(directory, 'journal.db');
    for (const suffix of ['', '-wal']) {
      if (existsSync(place.journal + suffix)) copyFileSync(place.journal + suffix, copy + suffix);
    }
    mendHeader(copy);
    return readProvable(copy, codec);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readProvable(copy: string, codec: Codec): Salvage {
  let connection: Connection;
  try {
    connection = new Database(copy, { timeout: 0 });
  } catch {
    return NOTHING;
  }
  try {
    connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('synchronous = OFF');
    const raw = new Map<string, RawRunRow>();
    for (const row of readable<RawRunRow>(connection, 'runs', 'id')) {
      if (typeof row.id === 'string') raw.set(row.id, row);
    }
    const events = readable<EventRow>(connection, 'events', 'lsn');
    const heads = readable<{ boot: number; lsn: number }>(connection, 'journal', 'one');
    const named = events.filter((row) => typeof row.run === 'string');
    const proved = proveRuns(raw, groupByRun(named), codec);
    return {
      ...proved,
      lsn: highest([...heads, ...proved.events].map((row) => row.lsn)),
      // A fencing token must not fall, even where the head that counts it is damaged.
      boot: highest([...heads.map((head) => head.boot), ...proved.events.map((row) => row.epoch)]),
    };
  } catch {
    return NOTHING;
  } finally {
    connection.close();
  }
}

/** Far beyond what is ever reached; a damaged number may be larger. */
const NUMBER_MAX = 2 ** 50;

function highest(numbers: readonly number[]): number {
  const isSane = (value: number) => Number.isSafeInteger(value) && value <= NUMBER_MAX;
  return numbers.filter(isSane).reduce((max, value) => Math.max(max, value), 0);
}

/** Every row that can be read, from the front and, past a broken page, from the back. */
function readable<Row>(
  connection: Connection,
  table: 'runs' | 'events' | 'journal',
  key: string,
): Row[] {
  const rows = new Map<unknown, Row>();
  for (const direction of ['asc', 'desc']) {
    try {
      // `not indexed`: a broken index must not hide rows of the table.
      const all = connection
        .prepare(`select * from ${table} not indexed order by ${key} ${direction}`)
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
): Pick<Salvage, 'rows' | 'events' | 'timers' | 'damagedRuns'> {
  const rows: RawRunRow[] = [];
  const events: EventRow[] = [];
  const timers: { run: string; dueAt: number }[] = [];
  const damagedRuns: string[] = [];
  for (const id of new Set([...raw.keys(), ...byRun.keys()])) {
    const ofRun = [...(byRun.get(id) ?? [])].sort((a, b) => a.seq - b.seq);
    const proved = provedPrefix(id as RunId, ofRun, codec);
    const ended = endedRow(raw.get(id), codec);
    const [first, last] = [proved.records[0], proved.records.at(-1)];
    if (ended) {
      // It answers by its seal; its records only come along if they lead there.
      const isWhole = ofRun.length === 0 || last?.hash === ended.last_hash;
      if (!isWhole) damagedRuns.push(id);
      rows.push(ended);
      if (isWhole) events.push(...proved.rows);
      continue;
    }
    // A live run is all in its records; one that has ended in them has lost its outcome.
    const row = first && last?.state.includes('.') ? unfinishedRow(id, first) : undefined;
    if (row === undefined || proved.rows.length < ofRun.length) damagedRuns.push(id);
    if (row === undefined || first === undefined) continue;
    rows.push(row);
    events.push(...proved.rows);
    const dueAt = dueAtOf(proved.records);
    if (dueAt !== undefined) timers.push({ run: id, dueAt });
  }
  return { rows, events, timers, damagedRuns };
}

function provedPrefix(
  run: RunId,
  rows: readonly EventRow[],
  codec: Codec,
): { rows: readonly EventRow[]; records: StoredRecord[] } {
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

function endedRow(row: RawRunRow | undefined, codec: Codec): RawRunRow | undefined {
  if (row === undefined || row.finished_at === null) return undefined;
  try {
    readRunRow(row, codec);
    return row;
  } catch {
    return undefined;
  }
}

/** Writes what was salvaged into a fresh journal. */
export function restore(connection: Connection, found: Salvage): void {
  const putRun = connection.prepare(sql.putRun);
  const putEvent = connection.prepare(sql.insertEvent);
  const putTimer = connection.prepare(sql.armTimer);
  for (const row of found.rows) putRun.run(row);
  for (const { lsn, run, seq, at, epoch, event, state, data, hash } of found.events) {
    putEvent.run(lsn, run, seq, at, epoch, event, state, data, hash);
  }
  for (const { run, dueAt } of found.timers) putTimer.run(run, dueAt);
}
