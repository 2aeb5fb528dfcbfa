/**
 * The last thing a process does with its journal: writes what is pending, and leaves a mark that says
 * who was inside a phase, so that the next process asks `check` for those and punishes nobody else.
 */
import type { Journal } from '../journal/index.ts';
import type { RunTable } from './run-table.ts';

export function closeJournal(journal: Journal, runs: RunTable): void {
  if (hasFlushed(journal)) unmarkWhatIsOutside(journal, runs);
  runs.close();
  journal.close();
}

/** What a failing disk did not take was never acknowledged: its runs stay marked as they are. */
function hasFlushed(journal: Journal): boolean {
  try {
    journal.flushNow();
    return true;
  } catch {
    return false;
  }
}

/**
 * Only those whose phase is on record by now are surely outside one; the others stay marked, and so do
 * those that an earlier life of this pod was inside of, and that it has not got back.
 */
function unmarkWhatIsOutside(journal: Journal, runs: RunTable): void {
  const inSlots = [...runs.live.values()].filter((run) => run.slot !== undefined);
  const outside = inSlots.filter((run) => run.isAppending);
  if (outside.length === inSlots.length) journal.vacate();
  else journal.vacate(outside.map((run) => run.slot!));
  // Beyond all slots in use: those they had may be others' by now.
  const from = Math.max(-1, ...inSlots.map((run) => run.slot!)) + 1;
  const open = [...runs.wasOpen].filter(([run]) => !runs.live.has(run));
  journal.occupy(open.map(([run, seq], index) => ({ slot: from + index, run, seq })));
}
