/** What is known of a run that comes from elsewhere when it goes on here. */
import { assert, type RunId } from '../ground/index.ts';
import { DamagedRunError, type Journal, type StoredRecord } from '../journal/index.ts';
import {
  type Ending,
  type Interruption,
  type Plan,
  type Registry,
  toldEnding,
} from '../machine/index.ts';
import { carriedOver } from './carried.ts';
import { type HeirPorts, heirOf, type Move } from './heir.ts';
import { type Resumption, resumed } from './resume.ts';
import type { Tie } from './tie.ts';

export interface GoingOn {
  readonly interruption: Interruption | undefined;
  readonly waitMs: number | undefined;
  readonly move: Move | undefined;
  readonly isDue?: boolean | undefined;
  readonly records: readonly StoredRecord[];
  readonly seenAt: number | undefined;
}

export type Taken = Omit<Extract<Resumption, { readonly kind: 'run' }>, 'kind'> & {
  readonly move?: Move | undefined;
};

/**
 * One whose version is not here: as a newer one has it, where there is one. Throws a DamagedRunError where
 * the records here cannot be trusted, or make no sense to anybody: the store's may be whole.
 */
export async function succeed(
  ports: HeirPorts,
  found: Exclude<Resumption, { readonly kind: 'run' }>,
  tie: Tie,
): Promise<Taken | undefined> {
  const { row, records } = found;
  const ending = records && toldEnding(records);
  if (ending) tie.ended(ending);
  else if (found.kind === 'setAside') {
    if (found.status === 'quarantined') throw new DamagedRunError(row.id, found.reason);
    tie.blocked(found.reason, found.waitsFor);
  } else {
    const heir = await heirOf(ports, row.id, tie.epoch, found.records);
    if (heir.kind === 'run') {
      return { ...resumed(heir.run, found.records, found.evidence), move: heir.move };
    }
    if (!tie.isOver && 'reason' in heir) tie.blocked(heir.reason);
  }
  return undefined;
}

export function carriedBy(plan: Plan, records: readonly StoredRecord[] | undefined) {
  return records && carriedOver(plan, records);
}

export function endingHere(journal: Journal, id: RunId): Ending {
  const ending = journal.find(id)?.ending;
  assert(ending !== undefined, `run ${id} is held and not there`);
  return ending;
}

/** Where a run stands by its records. */
export interface At {
  readonly version: number;
  readonly state: string;
}

/** Whether it is about to persist in the store. */
export function isStoring(
  { journal, registry }: { readonly journal: Journal; readonly registry: Registry },
  id: RunId,
  { version, state }: At,
): boolean {
  const plan = registry.find(journal.find(id)?.machine ?? '', version);
  const place = plan?.chart.placeOf(state);
  const part = place && plan?.line[place.index];
  return part?.kind === 'step' && place?.phase === 'persist' && part.persistIn === 'store';
}
