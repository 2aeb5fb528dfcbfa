/**
 * What a journal still has of runs that an earlier process held, in pages: each is read and proved once, when
 * its turn comes. Whoever goes on with a run does so before the next page is read, or memory would grow with
 * the number of runs.
 */
import type { RunId } from '../ground/index.ts';
import { type HeldRow, type Journal, unlessDamaged, type WholeRun } from '../journal/index.ts';
import type { Registry } from '../machine/index.ts';
import type { LocalHold } from './offer.ts';
import { load, NOTHING_OPEN, resumeOrSetAside, wasInside } from './resume.ts';
import type { RunTable } from './run-table.ts';

const PAGE_COUNT = 500;

export interface LocalHoldPorts {
  readonly journal: Journal;
  readonly registry: Registry;
  readonly runs: RunTable;
}

/** `resumed`: what the process before this one left behind tells nothing of these any more. */
export async function* localHolds(
  ports: LocalHoldPorts,
  holds: readonly HeldRow[],
  resumed: ReadonlySet<RunId>,
): AsyncIterable<LocalHold[]> {
  for (let from = 0; from < holds.length; ) {
    // Records of runs that were just let go of may still be on their way to the disk.
    await Promise.all(ports.runs.letGo.values());
    const asked = holds.slice(from, from + PAGE_COUNT);
    const read = ports.journal.readTogether(asked.map(({ run }) => run));
    from += read.length;
    yield read.map((whole, index) => {
      const hold = asked[index]!;
      return localHold(ports, hold, whole, resumed.has(hold.run));
    });
  }
}

function localHold(
  { journal, registry, runs }: LocalHoldPorts,
  hold: HeldRow,
  whole: WholeRun | undefined,
  wasResumed: boolean,
): LocalHold {
  const { run } = hold;
  const evidence = wasResumed ? NOTHING_OPEN : journal.evidence;
  const found = whole
    ? resumeOrSetAside(whole, journal, registry, evidence)
    : unlessDamaged(() => load(journal, registry, run, evidence));
  const rows = whole?.rows ?? unlessDamaged(() => journal.rows(run)) ?? [];
  const isOpen = runs.wasOpen.has(run) || wasInside(run, found, evidence);
  return { ...hold, isOpen, rows, found };
}
