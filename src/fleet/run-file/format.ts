/**
 * One run as one file: what its row or its summary says, the records of all its generations as they are
 * chained, and the machine it stood under. JSON, so that any program reads it; sealed, so that whoever
 * gets it knows that nothing was changed by accident. A seal proves nothing about who wrote it.
 */
import type { RunSummary } from '../../engine/index.ts';
import { type CodecPlace, hash, type RunId } from '../../ground/index.ts';
import type { EventRow } from '../../journal/index.ts';
import type { Announcement, TaskRow } from '../../store/index.ts';

export const KIND = 'fleetq.run';
export const FORMAT = 1;

/** As it is chained. `data` is the event itself, or the text of it where that would not come back. */
export type FileRecord = Omit<EventRow, 'lsn' | 'run' | 'data'> & { readonly data: unknown };

export interface Generation {
  readonly generation: number;
  /** Of its last record; -1 where there is none, or none was kept. */
  readonly lastSeq: number;
  readonly records: readonly FileRecord[];
  /** Of an earlier generation: how that had ended, as the store keeps it. */
  readonly outcome?: unknown;
}

export interface RunFile {
  readonly kind: typeof KIND;
  readonly format: typeof FORMAT;
  /** Milliseconds since the epoch. */
  readonly exportedAt: number;
  /** The version of FleetQ. */
  readonly exportedBy: string;
  readonly from: { readonly kind: 'store' | 'journal'; readonly where: string };
  readonly id: RunId;
  /** One of the two: the row of a task of the fleet, or a run of one host. */
  readonly task?: TaskRow | undefined;
  readonly run?: RunSummary | undefined;
  /** Where there is a codec: what `run` lacks of input, output, reason and error, as JSON, sealed. */
  readonly sealed?: string | undefined;
  /** Oldest first. */
  readonly generations: readonly Generation[];
  readonly machine?: Announcement | undefined;
}

export type SealedFile = RunFile & { readonly seal: string };

/** Where the texts of a summary belong, as codecs name places. */
export function summaryPlace(run: RunId): CodecPlace {
  return { run, what: 'exported summary' };
}

/** Over the values: white space is nobody's concern. */
export function sealOf(file: object): string {
  const { seal: _seal, ...rest } = file as Record<string, unknown>;
  return hash(JSON.stringify(rest));
}

/** As it will be read: what is undefined is not there. */
export function sealedFile(file: RunFile): SealedFile {
  const plain = JSON.parse(JSON.stringify(file)) as RunFile;
  return { ...plain, seal: sealOf(plain) };
}

export function generationOf(
  generation: number,
  rows: readonly EventRow[],
  outcome?: unknown,
): Generation {
  const records = rows.map(({ lsn: _lsn, run: _run, data, ...row }) => ({
    ...row,
    data: readable(data),
  }));
  return { generation, lastSeq: rows.at(-1)?.seq ?? -1, records, outcome };
}

/** The event as JSON, for people and other programs, if its text can be made from that again. */
function readable(data: string): unknown {
  try {
    const event: unknown = JSON.parse(data);
    const isSame = typeof event === 'object' && JSON.stringify(event) === data;
    return isSame ? event : data;
  } catch {
    return data;
  }
}

export function rowOf(run: RunId, { data, ...record }: FileRecord): EventRow {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return { ...record, lsn: 0, run, data: text };
}
