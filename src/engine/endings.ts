/** Where runs come to rest: at their end, or set aside for a person to look at. */
import { describeError, type RunId } from '../ground/index.ts';
import type { Journal, RunRow } from '../journal/index.ts';
import type { Ending, Registry } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { RunNotFoundError, RunSetAsideError } from './errors.ts';
import { type LiveRun, ofRun } from './live-run.ts';
import { load, type Resumption } from './resume.ts';
import type { RunTable } from './run-table.ts';

/** How the run ended, once it has: from memory where it is there, from the journal otherwise. */
export async function endingOf(
  runs: RunTable,
  { journal, registry }: { readonly journal: Journal; readonly registry: Registry },
  id: RunId,
  until: AbortSignal | undefined,
): Promise<Ending> {
  if (runs.isClosed || runs.live.has(id)) return runs.whenEnded(id, until);
  const row = journal.find(id);
  if (!row) throw new RunNotFoundError(id);
  if (row.ending) return row.ending;
  const { setAside } = runs;
  const aside = setAside.get(id) ?? (setAside.hasForgotten && foundAside(journal, registry, id));
  if (aside) throw new RunSetAsideError(id, aside.status, aside.reason);
  return runs.whenEnded(id, until);
}

/** Why the run stands still, by its records alone. */
function foundAside(journal: Journal, registry: Registry, id: RunId) {
  const found = load(journal, registry, id);
  return found?.kind === 'setAside' && found;
}

/** The run stands still here, and whoever listens is told why. */
export function putAside(
  runs: RunTable,
  found: Extract<Resumption, { readonly kind: 'setAside' }>,
): void {
  const { row, state, status, reason } = found;
  runs.putAside(row.id, { status, reason });
  const of = { run: row.id, machine: row.machine, version: row.version, reason };
  if (status === 'quarantined') tell('run.quarantined', () => of);
  else tell('run.blocked', () => ({ ...of, state }));
}

/** Nothing here can go on with it, for what its records or its definition say. */
export function quarantine(runs: RunTable, run: LiveRun, error: unknown): undefined {
  const reason = describeError(error).message;
  tell('run.quarantined', () => ({ ...ofRun(run), reason }));
  if (run.tie) {
    leave(runs, run);
    run.tie.quarantined(reason);
  } else runs.putAside(run.id, { status: 'quarantined', reason });
}

/** This pod failed, and not the run. */
export function tellFault({ id, plan }: LiveRun, error: unknown): void {
  const reason = describeError(error).message;
  tell('run.faulted', () => ({ run: id, machine: plan.name, reason }));
}

/** Another pod may fare better with it. */
export function release(runs: RunTable, run: LiveRun): void {
  leave(runs, run);
  run.tie?.released();
}

function leave(runs: RunTable, run: LiveRun): void {
  run.isLost = true;
  runs.leave(run);
}

/** Whatever goes wrong with this run, nobody else has to hear of it. */
export function orPutAside(runs: RunTable, id: RunId, act: () => void): void {
  try {
    act();
  } catch (error) {
    runs.putAside(id, { status: 'quarantined', reason: describeError(error).message });
  }
}

/** The records of a run that waits were looked at, and cannot be trusted. */
export function quarantineAsleep(runs: RunTable, row: RunRow, reason: string): void {
  if (runs.isDraining || runs.live.has(row.id) || runs.setAside.has(row.id)) return;
  putAside(runs, { kind: 'setAside', row, status: 'quarantined', state: '', reason });
}
