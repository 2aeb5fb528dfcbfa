/** One run, wherever it is known: in this process's journal, in the store, or in both. */
import { RunNotFoundError, type RunSummary } from '../../engine/index.ts';
import { LiveRoutes } from '../../fleet/index.ts';
import { isoTime, isRunId, type RunId } from '../../ground/index.ts';
import { lookingCodec, type StoredRecord } from '../../journal/index.ts';
import { type Revision, revisionOf, type TaskRow } from '../../store/index.ts';
import type { Desk } from './desk.ts';
import type { Shown } from './mask.ts';
import { archivedRecords } from './records.ts';
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

export async function recordsOf(
  desk: Desk,
  found: Found,
): Promise<{ readonly records: StoredRecord[]; readonly source: 'journal' | 'archive' }> {
  if (!found.row || isInHand(found)) {
    return { records: desk.journal!.events(found.id), source: 'journal' };
  }
  const reader = await desk.shared!.reader();
  return {
    records: await archivedRecords(reader, found.row, lookingCodec(desk.codec)),
    source: 'archive',
  };
}
