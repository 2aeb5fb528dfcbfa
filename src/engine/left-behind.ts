/**
 * What a process that died may not have told of: whoever tells of runs elsewhere does so a little later
 * than the disk has it. The next process reads it from the journal and says it again; nothing is read
 * where nobody listens.
 */
import type { RunId } from '../ground/index.ts';
import { type Journal, type StoredRecord, unlessDamaged } from '../journal/index.ts';
import { isHeard, tell } from '../telemetry/events.ts';
import { type LiveRun, ofRun } from './live-run.ts';
import type { Resumption } from './resume.ts';

/** Far longer than anybody may take to tell of a record, a store that is asked first included. */
export const UNTOLD_MS = 15_000;
/** More records than this are not looked at, however little time they took. */
const RECORD_COUNT_MAX = 20_000;

/** Tells of the runs of this host that the process before this one may not have told of. */
export function tellLeft(journal: Journal): number | undefined {
  if (!isHeard('run.left')) return undefined;
  const rows = journal.recent(RECORD_COUNT_MAX);
  const seenAt = rows.reduce((latest, { at }) => Math.max(latest, at), 0);
  if (seenAt === 0) return undefined;
  const since = seenAt - UNTOLD_MS;
  const runs = new Set(rows.filter(({ at }) => at >= since).map(({ run }) => run as RunId));
  for (const run of runs) {
    const records = readLocal(journal, run);
    if (records) tell('run.left', () => ({ run, generation: undefined, records, since }));
  }
  return seenAt;
}

/** A run that is held for a store is told of when the store has said whose it is. */
function readLocal(journal: Journal, run: RunId): StoredRecord[] | undefined {
  // That it is damaged is told when it is to go on.
  return unlessDamaged(() => {
    const row = journal.find(run);
    return row && row.generation === undefined ? journal.history(run) : undefined;
  });
}

/** The same of one that is held for a store, which has all of it now. */
export function tellHeldLeft(journal: Journal, run: RunId, generation: number): void {
  if (!isHeard('run.left')) return;
  const records = unlessDamaged(() => journal.history(run));
  if (records) tellLeftOf(run, generation, () => records);
}

/** Tells of a run of which others may not have told, up to its last record. */
export function tellLeftOf(
  run: RunId,
  generation: number,
  records: () => readonly StoredRecord[],
): void {
  tell('run.left', () => {
    const all = records();
    return { run, generation, records: all, since: (all.at(-1)?.at ?? 0) - UNTOLD_MS };
  });
}

export function tellResumed(
  run: LiveRun,
  { records, wasInterrupted }: Pick<Taken, 'records' | 'wasInterrupted'>,
  seenAt: number | undefined,
): void {
  const { at: state, attempt } = run.state;
  const generation = run.tie?.generation;
  const how = { state, attempt, wasInterrupted, generation, records, seenAt };
  tell('run.resumed', () => ({ ...ofRun(run), ...how }));
}

type Taken = Extract<Resumption, { readonly kind: 'run' }>;

/** Who had the run last, by its records; nobody knows of one that was started on a host. */
export function ownerOf(records: readonly StoredRecord[]): string | undefined {
  const owned = records.findLast(({ event }) => 'pod' in event && event.pod !== undefined);
  return owned && 'pod' in owned.event ? owned.event.pod : undefined;
}
