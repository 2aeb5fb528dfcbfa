/** From records back to runs that go on: each on its own, so that a bad one harms nobody else. */
import { type Clock, describeError, type RunId, turn } from '../ground/index.ts';
import {
  DamagedRunError,
  type Evidence,
  type Journal,
  type RunRow,
  SealedRunError,
  type StoredRecord,
  type UnfinishedRun,
  UnknownRecordError,
} from '../journal/index.ts';
import {
  canProbe,
  isFinal,
  originOf,
  type Registry,
  type RunEvent,
  registeredFor,
  whyNobody,
} from '../machine/index.ts';
import { tellIfChanged } from './changed-machines.ts';
import { isAsleep, type LiveRun, liveRunOf, waitMsOf } from './live-run.ts';

export type Resumption =
  | {
      readonly kind: 'run';
      readonly run: LiveRun;
      readonly wasInterrupted: boolean;
      /** Its process died inside the phase that its last record entered. */
      readonly wasInside: boolean;
      /** An owner before the last one was cut off, and that is still to be recorded. */
      readonly isOwed: boolean;
      /** How long the wait was to be when it was recorded, if it waits. */
      readonly waitMs: number | undefined;
      readonly records: readonly StoredRecord[];
    }
  /** Its version is not here; a newer one may go on with it, which is yet to be recorded. */
  | {
      readonly kind: 'succeeds';
      readonly row: RunRow;
      readonly records: readonly StoredRecord[];
      readonly evidence: Evidence;
    }
  | {
      readonly kind: 'setAside';
      readonly row: RunRow;
      readonly status: 'blocked' | 'quarantined';
      readonly state: string;
      readonly reason: string;
      /** Where somebody else may go on with it: who has its version, or its key. */
      readonly waitsFor?: 'key' | undefined;
      /** What it has been through, where that can be trusted: enough to end it by a cancel. */
      readonly records?: readonly StoredRecord[] | undefined;
    };

export const NOTHING_OPEN: Evidence = { isComplete: true, occupied: new Map() };

/** Before every due time: whatever has a timer is left to it, even one that is overdue. */
const ALL_ASLEEP = -1;

/** How many runs are taken up between two turns of the loop: more would keep more garbage alive. */
const TURN_COUNT = 500;
export const FIRST_COUNT = 50;

/** Gives each of them to `takeUp`, with turns of the loop between, until that has enough. */
export async function resumeAll(
  journal: Journal,
  registry: Registry,
  clock: Clock,
  takeUp: (found: Resumption) => boolean,
): Promise<void> {
  let count = 0;
  for (const found of journal.unfinished(ALL_ASLEEP)) {
    if (!takeUp(resumeOrSetAside(found, journal, registry, journal.evidence))) return;
    if (++count % TURN_COUNT === 0 || count === FIRST_COUNT) await turn(clock);
  }
}

/** Whatever is wrong with one run, the others must be resumed. */
export function resumeOrSetAside(
  found: UnfinishedRun,
  journal: Journal,
  registry: Registry,
  evidence: Evidence,
): Resumption {
  try {
    return resume(found, journal, registry, evidence);
  } catch (error) {
    return setAside(found.row, 'quarantined', '', describeError(error).message);
  }
}

/** One run from the journal, after a wait or to be cancelled: nothing of it was interrupted. */
export function load(
  journal: Journal,
  registry: Registry,
  id: RunId,
  evidence: Evidence = NOTHING_OPEN,
): Resumption | undefined {
  const row = journal.find(id);
  if (!row || row.finishedAt !== undefined) return undefined;
  try {
    const found = { row, records: journal.history(row.id) };
    return resumeOrSetAside(found, journal, registry, evidence);
  } catch (error) {
    if (!(error instanceof DamagedRunError)) throw error;
    // Of a fleet another pod may have the FleetQ, or the key, that wrote it.
    const isSealed = error instanceof SealedRunError;
    const isOfOthers = isSealed || error instanceof UnknownRecordError;
    const status = isOfOthers && row.generation !== undefined ? 'blocked' : 'quarantined';
    const found = setAside(row, status, '', error.message);
    return isSealed ? { ...found, waitsFor: 'key' } : found;
  }
}

function resume(
  found: UnfinishedRun,
  { boot, copyOf }: Journal,
  registry: Registry,
  evidence: Evidence,
): Resumption {
  const { row } = found;
  if (found.damage !== undefined) return setAside(row, 'quarantined', '', found.damage);
  const last = found.records.at(-1)!;
  // The row of a run that is held for a store is never sealed: its records say that it has ended.
  if (isFinal(last.state) && row.generation === undefined) {
    return setAside(row, 'quarantined', last.state, 'its records have ended and its row has not');
  }
  if (copyOf && row.generation === undefined && found.records[0]!.lsn <= copyOf.lsn) {
    return { ...setAside(row, 'quarantined', last.state, copied(copyOf)), records: found.records };
  }
  const { records } = found;
  const here = registeredFor(registry, records);
  if (!here) {
    const why = whyNobody(registry, records);
    if (why === undefined && !isFinal(last.state))
      return { kind: 'succeeds', row, records, evidence };
    return { ...setAside(row, 'blocked', last.state, why ?? NOTHING_LEFT), records };
  }
  // Nearly every run just continues: nothing more is looked at for those.
  if (here.kind !== 'continues') {
    const origin = originOf(records);
    tellIfChanged(registry, registry.find(origin.machine, origin.version)!, origin);
  }
  if ('reason' in here) {
    const status = here.kind === 'blocked' ? 'blocked' : 'quarantined';
    return { ...setAside(row, status, last.state, here.reason), records };
  }
  const { state, lastError } = here.folded;
  return resumed(liveRunOf(here.plan, row.id, boot, state, records, lastError), records, evidence);
}

const NOTHING_LEFT = 'its records have ended, and nobody has told the store yet';

/** A run as its records have left it; what its process was at when it died, if it did. */
export function resumed(
  run: LiveRun,
  records: readonly StoredRecord[],
  evidence: Evidence,
): Extract<Resumption, { kind: 'run' }> {
  const last = records.at(-1)!;
  const isOwed = wasTakenCutOff(last.event);
  const wasInside = isInside(run, last, evidence);
  const wasInterrupted = isOwed || wasInside;
  const isUnknown =
    !evidence.isComplete && last.lsn <= (evidence.unknownUntil ?? Number.POSITIVE_INFINITY);
  if (!wasInterrupted && isUnknown && canProbe(run.plan, run.state.at)) {
    // Nobody knows whether the phase had begun, so the real resource is asked.
    run.state = { ...run.state, mustProbe: true };
  }
  const waitMs = waitMsOf(run, records);
  return { kind: 'run', run, wasInterrupted, wasInside, isOwed, waitMs, records };
}

function copied({ journal }: NonNullable<Journal['copyOf']>): string {
  return (
    `it was copied along with journal ${journal}, where it may go on, or may have ended since; ` +
    'if that one is gone for good, stop this process and run `fleetq journal adopt`'
  );
}

/** Whether its process died while the run was inside the phase that its last record entered. */
function isInside(run: LiveRun, last: StoredRecord, evidence: Evidence): boolean {
  const seqAtSlot = evidence.occupied.get(run.id);
  if (seqAtSlot === undefined || isAsleep(run)) return false;
  // After a record that waits, or says that the phase was let go, the slot was left; only one that
  // was given since then counts.
  const hasLeft = run.state.dueAt !== undefined || last.event.type === 'INTERRUPTED';
  return !hasLeft || seqAtSlot === last.seq;
}

/**
 * Whether the process that left the run was inside a phase: the mark of a run that waits in place stays, for
 * the record that waits says by itself that its slot was left. Where nobody here can read where it stands,
 * the mark is believed.
 */
export function wasInside(id: RunId, found: Resumption | undefined, evidence: Evidence): boolean {
  return found?.kind === 'run' ? found.wasInside : evidence.occupied.has(id);
}

/** Whether whoever took it over had yet to record that its last owner was cut off. */
export function wasTakenCutOff(event: RunEvent): boolean {
  return (event.type === 'TAKEN' || event.type === 'ADVANCED') && event.interruption === 'cut';
}

function setAside(
  row: RunRow,
  status: 'blocked' | 'quarantined',
  state: string,
  reason: string,
): Extract<Resumption, { kind: 'setAside' }> {
  return { kind: 'setAside', row, status, state, reason };
}
