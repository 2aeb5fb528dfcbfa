/**
 * A run's records, read from any of them on, a slice at a time, out of a journal or the archive. What
 * comes before is not looked at, and no more is in memory than the slice in hand; each record is
 * verified against the one before it.
 */
import { BrokenHistoryError, type CoursePart, courseOf, rowOf } from '../fleet/index.ts';
import { type Clock, KeyMissingError, type RunId, turn } from '../ground/index.ts';
import { CHAIN_START, type EventRow, SealedRunError, type StoredRecord } from '../journal/index.ts';
import { type HistoryParts, type Outline, type TaskRow, within } from '../store/index.ts';
import type { LocalRuns } from './live/index.ts';

/** So much is read before others have their turn; a record that is larger comes alone. */
const SLICE_BYTES = 512 * 1024;
/** So much is fetched at once: to find a record in a long segment takes the store its time. */
const FETCH_BYTES = 4 * 1024 * 1024;

export interface Place {
  /** -1: before the first. */
  readonly seq: number;
  readonly hash: string;
}

export interface Slice {
  readonly records: readonly StoredRecord[];
  /** About so many. */
  readonly bytes: number;
}

export interface Reading {
  readonly source: 'journal' | 'archive';
  /** Its last record, and who wrote it. */
  readonly last: Place & { readonly epoch: number };
  /** Where this record is; undefined where there is none of that number. */
  placeOf(seq: number): Promise<Place | undefined>;
  /** What comes next; no records where that was the last one. */
  after(place: Place): Promise<Slice>;
}

const BEGINNING: Place = { seq: -1, hash: CHAIN_START };

/** Verifies rows behind a record, and reads them. */
export type Decode = (
  run: RunId,
  rows: readonly EventRow[],
  after: Place,
) => readonly StoredRecord[];

/** Everything behind a place, slice by slice, with a turn of the loop between two of them. */
export async function* slicesAfter(
  reading: Reading,
  place: Place,
  clock: Clock,
): AsyncGenerator<Slice> {
  let at = place;
  while (at.seq < reading.last.seq) {
    const slice = await reading.after(at);
    const last = slice.records.at(-1);
    if (!last) return;
    yield slice;
    at = last;
    await turn(clock);
  }
}

/** What comes after a record, as far as there is room for; from the beginning where there is no such. */
export async function windowAfter(
  reading: Reading,
  seq: number,
  bytesMax: number,
  clock: Clock,
): Promise<{ readonly prevHash: string; readonly records: readonly StoredRecord[] }> {
  const place = (await reading.placeOf(seq)) ?? BEGINNING;
  const records: StoredRecord[] = [];
  let bytes = 0;
  for await (const slice of slicesAfter(reading, place, clock)) {
    records.push(...slice.records);
    bytes += slice.bytes;
    if (bytes > bytesMax) break;
  }
  return { prevHash: place.hash, records };
}

export function journalReading(local: LocalRuns, run: RunId): Reading {
  const at = (seq: number) => local.page(run, seq - 1, 1)[0];
  const last = at(local.lastSeq(run)) ?? { ...BEGINNING, epoch: 0 };
  return {
    source: 'journal',
    last,
    placeOf: async (seq) => (seq < 0 ? BEGINNING : at(seq)),
    after: async ({ seq }) => {
      const records = local.page(run, seq, SLICE_BYTES).filter((next) => next.seq <= last.seq);
      return { records, bytes: sizeOf(records) };
    },
  };
}

type Task = Pick<TaskRow, 'id' | 'generation' | 'lastSeq' | 'lastHash'>;

/** `outlines` are of this run. */
export async function archiveReading(
  parts: Pick<HistoryParts, 'recordsIn'>,
  decode: Decode,
  { id, lastSeq, lastHash }: Task,
  outlines: readonly Outline[],
): Promise<Reading> {
  const textsFrom = async (outline: Outline, seq: number, bytesMax: number) => {
    const { task, generation, epoch, firstSeq } = outline;
    const part = { task, generation, epoch, firstSeq, fromSeq: seq, bytesMax };
    const texts = await parts.recordsIn(part);
    if (texts.length > 0) return texts;
    throw new BrokenHistoryError(id, `segment ${firstSeq} does not hold its records`);
  };
  const hashAt = async (outline: Outline, seq: number) =>
    rowOf(id, parse(id, (await textsFrom(outline, seq, 1))[0]!), seq).hash;
  const settled = lastHash ? { seq: lastSeq, hash: lastHash } : undefined;
  const course = await courseOf(id, outlines, settled, hashAt);
  const partAt = (seq: number) => course.find(({ from, until }) => from <= seq && seq <= until);
  /** Fetched and not read yet, from this number on. */
  let ahead: { readonly seq: number; readonly texts: readonly string[] } = { seq: 0, texts: [] };
  return {
    source: 'archive',
    last: lastOf(course),
    placeOf: async (seq) => {
      const part = partAt(seq);
      if (!part) return seq < 0 ? BEGINNING : undefined;
      const { outline } = part;
      const hash = seq === outline.lastSeq ? outline.lastHash : await hashAt(outline, seq);
      return hash === undefined ? undefined : { seq, hash };
    },
    after: async (place) => {
      const part = partAt(place.seq + 1);
      if (!part) return { records: [], bytes: 0 };
      const seq = place.seq + 1;
      const { texts } =
        ahead.seq === seq && ahead.texts.length > 0
          ? ahead
          : {
              texts: (await textsFrom(part.outline, seq, FETCH_BYTES)).slice(
                0,
                part.until - place.seq,
              ),
            };
      const slice = [...within(texts, SLICE_BYTES)];
      ahead = { seq: seq + slice.length, texts: texts.slice(slice.length) };
      const rows = slice.map((text, index) => rowOf(id, parse(id, text), seq + index));
      const bytes = slice.reduce((sum, { length }) => sum + length, 0);
      return { records: decoded(id, decode, rows, place), bytes };
    },
  };
}

function lastOf(course: readonly CoursePart[]): Reading['last'] {
  const part = course.at(-1);
  if (!part) return { ...BEGINNING, epoch: 0 };
  const { lastSeq: seq, lastHash: hash, epoch } = part.outline;
  return { seq, hash, epoch };
}

function parse(id: RunId, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BrokenHistoryError(id, 'a record is not JSON', { cause });
  }
}

function decoded(
  id: RunId,
  decode: Decode,
  rows: readonly EventRow[],
  after: Place,
): readonly StoredRecord[] {
  try {
    return decode(id, rows, after);
  } catch (cause) {
    // Whole, and not for these eyes: that is no damage.
    if (cause instanceof KeyMissingError || cause instanceof SealedRunError) throw cause;
    throw new BrokenHistoryError(id, (cause as Error).message, { cause });
  }
}

/** Of payloads; what is around them is small. */
function sizeOf(records: readonly StoredRecord[]): number {
  return records.reduce((sum, { event }) => sum + JSON.stringify(event).length, 0);
}
