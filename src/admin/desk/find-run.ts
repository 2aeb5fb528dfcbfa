/** One run, wherever it is known: in this process's journal, in the store, or in both. */
import { RunNotFoundError, type RunSummary } from '../../engine/index.ts';
import { LiveRoutes } from '../../fleet/index.ts';
import { isoTime, isRunId, type RunId } from '../../ground/index.ts';
import { decodeRowsAfter, lookingCodec } from '../../journal/index.ts';
import { type Revision, revisionOf, type TaskRow } from '../../store/index.ts';
import { archiveReading, type Decode, journalReading, type Reading } from '../reading.ts';
import type { Desk } from './desk.ts';
import type { Shown } from './mask.ts';
import { viewOfRun, viewOfTask } from './views.ts';

export type Source = 'journal' | 'store';

export interface Found {
  readonly id: RunId;
  readonly run: RunSummary | undefined;
  readonly row: TaskRow | undefined;
  readonly live: LiveRoutes | undefined;
}

export async function findRun(desk: Desk, id: string, wanted: Source | undefined): Promise<Found> {
  if (!isRunId(id)) throw new RunNotFoundError(id);
  const run = wanted === 'store' ? undefined : inJournal(desk, id);
  if (!desk.shared || wanted === 'journal') {
    if (!run) throw new RunNotFoundError(id);
    return { id, run, row: undefined, live: undefined };
  }
  const reader = await desk.shared.reader();
  const [row] = await reader.find([id]);
  if (!row && !run) throw new RunNotFoundError(id);
  const live = row ? new LiveRoutes(await reader.pods()) : undefined;
  return { id, run, row, live };
}

export function inJournal({ journal }: Desk, id: RunId): RunSummary | undefined {
  try {
    return journal?.describe(id);
  } catch (error) {
    if (error instanceof RunNotFoundError) return undefined;
    throw error;
  }
}

/** The journal is ahead of the store while the run is in hand here. */
function isInHand({ run, row }: Found): boolean {
  if (!run || !row) return row === undefined;
  const isSame = run.generation === undefined || run.generation === row.generation;
  return isSame && row.status === 'claimed' && run.seq >= row.lastSeq;
}

export function viewOf(desk: Desk, found: Found, shown: Shown): object {
  const { run, row, live } = found;
  if (!row) return viewOfRun(run!, desk.clock.now(), shown);
  const stored = viewOfTask(row, shown, live);
  if (!run || !isInHand(found)) return stored;
  const { state, attempt, seq, progress } = run;
  const told = progress && { ...progress, note: shown.text(progress.note) };
  const freshAt = isoTime(desk.clock.now());
  return { ...stored, state, attempt, seq, progress: told, source: 'journal', freshAt };
}

export function revisionIn({ row }: Found): Revision | undefined {
  return row && revisionOf(row);
}

/** Where its records are to be read: in the journal of this process, or in the archive. */
export interface FoundHistory {
  readonly id: RunId;
  readonly row: TaskRow | undefined;
}

/** One run, as far as its records need to be found: none of them is read for that. */
export async function findHistory(
  desk: Desk,
  id: string,
  wanted: Source | undefined,
): Promise<FoundHistory> {
  if (!isRunId(id)) throw new RunNotFoundError(id);
  const { local } = desk.live;
  const own = wanted === 'store' ? undefined : local?.find(id);
  const reader = wanted === 'journal' ? undefined : await desk.shared?.reader();
  const [row] = (await reader?.find([id])) ?? [];
  if (!own && !row) throw new RunNotFoundError(id);
  if (!own || !row) return { id, row };
  const isSame = own.generation === undefined || own.generation === row.generation;
  const isAhead = isSame && row.status === 'claimed' && local!.lastSeq(id) >= row.lastSeq;
  return { id, row: isAhead ? undefined : row };
}

export async function readingOf(desk: Desk, { id, row }: FoundHistory): Promise<Reading> {
  if (!row) return journalReading(desk.live.local!, id);
  const reader = await desk.shared!.reader();
  const outlines = await reader.outlines([{ task: id, generation: row.generation }]);
  const codec = lookingCodec(desk.codec);
  const decode: Decode = (run, rows, after) => decodeRowsAfter(run, rows, codec, after);
  return archiveReading(reader, decode, row, outlines);
}
