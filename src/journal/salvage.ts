/**
 * What can still be proved of a broken file: every run whose records fit their hashes, every ended
 * run whose row fits its seal, whether or not this version understands it. It is read from a copy,
 * since SQLite changes a file by opening it, and the broken one is evidence. What cannot be proved
 * stays behind, and the alarm says how much that is. Nothing is guessed.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import { type Connection, openConnection } from './connection.ts';
import { JournalFormatError } from './errors.ts';
import { type FreshSchema, mendHeader, renewSchema } from './file-header.ts';
import { readHead } from './head.ts';
import * as sql from './journal.sql.ts';
import type { EventRow } from './journal.ts';
import { migrate, refuseNewerWreck } from './migrate.ts';
import type { Place } from './place.ts';
import { type ProvedRuns, proveRuns } from './prove-runs.ts';
import { groupByRun } from './record.ts';
import type { RawRunRow } from './run-row.ts';

export interface Salvage extends ProvedRuns {
  /** Whether every table was read to its end: only then are those all that is missing. */
  readonly isCounted: boolean;
  readonly lsn: number;
  readonly boot: number;
  /** What the journal is called, where its head is whole. */
  readonly id: string | undefined;
}

const COPY_NAME = 'journal.reading-';
const NOTHING: Salvage = {
  rows: [],
  events: [],
  timers: [],
  damagedRuns: [],
  strangeRuns: [],
  isCounted: false,
  lsn: 0,
  boot: 0,
  id: undefined,
};

/** Reads what can be proved of the place's journal, and leaves its files as they are. */
export function salvage(place: Place, codec: Codec): Salvage {
  for (const name of readdirSync(place.directory)) {
    // Left by a process that died while it read.
    if (name.startsWith(COPY_NAME)) rmSync(join(place.directory, name), { recursive: true });
  }
  const directory = mkdtempSync(join(place.directory, COPY_NAME));
  try {
    const fresh = freshSchema(join(directory, 'fresh.db'));
    const found = readCopy(place, join(directory, 'found.db'), codec, mendHeader);
    if (found.isCounted && found.layout === fresh.layout) return found;
    // The first page says where everything is; with that of an empty journal more may be found.
    const renew = (copy: string) => renewSchema(copy, fresh);
    const renewed = readCopy(place, join(directory, 'renewed.db'), codec, renew);
    // Every row of either is proved, so the one with more is the better one.
    return sizeOf(found) > sizeOf(renewed) ? found : renewed;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What was found, in words for the alarm. */
export function describeSalvage({ rows, damagedRuns, strangeRuns, isCounted }: Salvage): string {
  const lost = isCounted
    ? `${damagedRuns.length} were not, or not whole`
    : 'how many were not, or not whole, is unknown, since parts of the file cannot be read; ' +
      `${damagedRuns.length} are known`;
  const strange =
    strangeRuns.length > 0
      ? `; ${strangeRuns.length} have records that this FleetQ does not understand, ` +
        `were carried over as they are, and stand still${named(strangeRuns)}`
      : '';
  return `${rows.length} runs were carried over, ${lost}${named(damagedRuns)}${strange}`;
}

function named(runs: readonly string[]): string {
  return runs.length > 0 ? `: ${runs.slice(0, 10).join(', ')}` : '';
}

function sizeOf({ rows, events }: Salvage): number {
  return rows.length + events.length;
}

/** The same migrations put the same tables on the same pages. */
function freshSchema(file: string): FreshSchema {
  const connection = openConnection(file);
  try {
    migrate(connection);
    const pages = connection.prepare(sql.selectSchemaPages).pluck().all() as number[];
    const layout = layoutOf(connection);
    connection.pragma('wal_checkpoint(TRUNCATE)');
    return { layout, pages, bytes: readFileSync(file) };
  } finally {
    connection.close();
  }
}

function layoutOf(connection: Connection): string {
  return JSON.stringify(connection.prepare(sql.selectLayout).raw().all());
}

type Reading = Salvage & { readonly layout: string };

/** Each reading has a copy of its own: closing one writes its WAL into it. */
function readCopy(place: Place, copy: string, codec: Codec, mend: (copy: string) => void): Reading {
  for (const suffix of ['', '-wal']) {
    if (existsSync(place.journal + suffix)) copyFileSync(place.journal + suffix, copy + suffix);
  }
  mend(copy);
  try {
    return readProvable(copy, codec);
  } catch (error) {
    if (error instanceof JournalFormatError) throw error;
    return { ...NOTHING, layout: '' };
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  }
}

function readProvable(copy: string, codec: Codec): Reading {
  const connection = openDatabase(copy, { timeout: 0 });
  try {
    connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('synchronous = OFF');
    refuseNewerWreck(connection);
    const layout = layoutOf(connection);
    const heads = readable<{ boot: number; lsn: number }>(connection, 'journal', 'one').rows;
    const events = readable<EventRow>(connection, 'events', 'lsn');
    if (!events.isWhole) readBetween(connection, events.rows, highest(lsnsOf(heads)));
    const byRun = groupByRun(
      [...events.rows.values()]
        .filter((row) => typeof row.run === 'string')
        .sort((a, b) => a.lsn - b.lsn),
    );
    const runs = readable<RawRunRow>(connection, 'runs', 'id');
    if (!runs.isWhole) readNamed(connection, runs.rows, byRun.keys());
    for (const id of runs.rows.keys()) if (typeof id !== 'string') runs.rows.delete(id);
    const proved = proveRuns(runs.rows as Map<string, RawRunRow>, byRun, codec);
    return {
      ...proved,
      layout,
      isCounted: events.isWhole && runs.isWhole && countByIndex(connection) <= events.rows.size,
      lsn: Math.max(highest(lsnsOf(heads)), highest(proved.events.map((row) => row.lsn))),
      // A fencing token must not fall, even where the head that counts it is damaged.
      boot: highest([...[...heads.values()].map((head) => head.boot), ...bootsIn(proved)]),
      id: sealedId(connection),
    };
  } finally {
    connection.close();
  }
}

function sealedId(connection: Connection): string | undefined {
  try {
    const head = readHead(
      connection,
      connection.pragma('user_version', { simple: true }) as number,
    );
    return typeof head === 'object' ? head.id : undefined;
  } catch {
    return undefined;
  }
}

/** Records of runs that are held for a store have the epoch of their claim, which is no boot. */
function bootsIn({ rows, events }: ProvedRuns): number[] {
  const local = new Set(rows.flatMap(({ id, generation }) => (generation === null ? [id] : [])));
  return events.filter(({ run }) => local.has(run)).map(({ epoch }) => epoch);
}

/** A page may have lost rows without a trace in the table; the index still has them. */
function countByIndex(connection: Connection): number {
  try {
    return connection.prepare(sql.countEventsByIndex).pluck().get() as number;
  } catch {
    // Broken itself, which says nothing about the table.
    return 0;
  }
}

function lsnsOf(heads: ReadonlyMap<unknown, { readonly lsn: number }>): number[] {
  return [...heads.values()].map((head) => head.lsn);
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
): { rows: Map<unknown, Row>; isWhole: boolean } {
  const rows = new Map<unknown, Row>();
  for (const direction of ['asc', 'desc']) {
    try {
      // `not indexed`: a broken index must not hide rows of the table.
      const all = connection
        .prepare(`select * from ${table} not indexed order by ${key} ${direction}`)
        .iterate();
      for (const row of all) rows.set((row as Record<string, unknown>)[key], row as Row);
      return { rows, isWhole: direction === 'asc' };
    } catch {
      // The rows read so far are kept; the other direction may find the rest.
    }
  }
  return { rows, isWhole: false };
}

/** A broken page is stepped over number by number, a lost branch in ever longer steps. */
const [SHORT_STEPS, STEPS_MAX] = [1_000, 50_000];

/** Between the broken pages that both directions stopped at, others may be whole. */
function readBetween(connection: Connection, rows: Map<unknown, EventRow>, lastLsn: number): void {
  const statement = connection.prepare(sql.salvageEventsFrom);
  let [next, failures] = [1, 0];
  for (let steps = 0; steps < STEPS_MAX && next <= lastLsn; steps++) {
    while (rows.has(next)) next++;
    try {
      for (const row of statement.iterate(next, lastLsn) as Iterable<EventRow>) {
        rows.set(row.lsn, row);
        // A broken page may give any number, even one that was passed.
        if (row.lsn >= next) [next, failures] = [row.lsn + 1, 0];
      }
      return;
    } catch {
      next += 2 ** Math.floor(failures++ / SHORT_STEPS);
    }
  }
}

/** The records name runs whose rows a scan cannot reach. */
function readNamed(
  connection: Connection,
  rows: Map<unknown, RawRunRow>,
  names: Iterable<string>,
): void {
  const statement = connection.prepare(sql.selectRun);
  for (const name of names) {
    if (rows.has(name)) continue;
    try {
      const row = statement.get(name) as RawRunRow | undefined;
      if (row) rows.set(name, row);
    } catch {
      // On a broken page too.
    }
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
