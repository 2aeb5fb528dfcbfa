/**
 * Of the rows and records that could be read of a broken file, those that prove themselves. What is
 * proved and not understood, since a newer version or another key wrote it, is carried over as it is:
 * reading it is refused later, as it would have been in the file that broke. To cut it off would let
 * the run go on from where it no longer is.
 */
import type { RunId } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import type { EventRow } from './journal.ts';
import { provedPrefix } from './record.ts';
import {
  dueAtOf,
  isRunRow,
  isSealed,
  openRow,
  type RawRunRow,
  readRunRow,
  unfinishedRow,
} from './run-row.ts';

export interface ProvedRuns {
  readonly rows: readonly RawRunRow[];
  readonly events: readonly EventRow[];
  readonly timers: readonly { readonly run: string; readonly dueAt: number }[];
  /** Runs of which something, or everything after some record, could not be proved. */
  readonly damagedRuns: readonly string[];
  /** Runs with something in them that was proved and is not understood. */
  readonly strangeRuns: readonly string[];
}

export function proveRuns(
  raw: ReadonlyMap<string, RawRunRow>,
  byRun: ReadonlyMap<string, readonly EventRow[]>,
  codec: Codec,
): ProvedRuns {
  const rows: RawRunRow[] = [];
  const events: EventRow[] = [];
  const timers: { run: string; dueAt: number }[] = [];
  const damagedRuns: string[] = [];
  const strangeRuns: string[] = [];
  for (const id of new Set([...raw.keys(), ...byRun.keys()])) {
    const ofRun = [...(byRun.get(id) ?? [])].sort((a, b) => a.seq - b.seq);
    const proved = provedPrefix(id as RunId, ofRun, codec);
    const isStrange = proved.records.length < proved.rows.length;
    const row = raw.get(id);
    if (row && isSealed(row)) {
      // It answers by its seal; its records only come along if they lead there.
      const isWhole = ofRun.length === 0 || proved.rows.at(-1)?.hash === row.last_hash;
      if (!isWhole) damagedRuns.push(id);
      if ((isStrange && isWhole) || !isUnderstood(row, codec)) strangeRuns.push(id);
      rows.push(row);
      if (isWhole) events.push(...proved.rows);
      continue;
    }
    // A live run is all in its records; one that has ended in them and is not held lost its outcome.
    const open = unfinishedRow(id, proved.records) ?? (isStrange ? openAsFound(row) : undefined);
    if (open === undefined || proved.rows.length < ofRun.length) damagedRuns.push(id);
    if (open === undefined) continue;
    rows.push(open);
    events.push(...proved.rows);
    if (isStrange) strangeRuns.push(id);
    // The store wakes a held run. By then the claim that this file knows of may be another pod's.
    const isOurs = open.generation === null;
    const dueAt = isOurs && !isStrange ? dueAtOf(proved.records) : undefined;
    if (dueAt !== undefined) timers.push({ run: id, dueAt });
  }
  return { rows, events, timers, damagedRuns, strangeRuns };
}

/** Its seal fits, so all that can be wrong with it is that it was written with another key. */
function isUnderstood(sealed: RawRunRow, codec: Codec): boolean {
  try {
    readRunRow(sealed, codec);
    return true;
  } catch {
    return false;
  }
}

/** Where not even the first record is understood, only the row can say what the run is called. */
function openAsFound(row: RawRunRow | undefined): RawRunRow | undefined {
  if (row === undefined || row.finished_at !== null || !isRunRow(row)) return undefined;
  const { id, machine, version, key, started_at, generation } = row;
  return openRow([id, machine, version, key, started_at, generation]);
}
