/** What is known of a run that comes from elsewhere when it goes on here. */
import type { RunId } from '../ground/index.ts';
import type { Journal, StoredRecord } from '../journal/index.ts';
import type { Ending, Interruption, Plan, Registry } from '../machine/index.ts';
import { carriedOver } from './carried.ts';
import type { Move } from './heir.ts';
import type { Resumption } from './resume.ts';

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

export function carriedBy(plan: Plan, records: readonly StoredRecord[] | undefined) {
  return records && carriedOver(plan, records);
}

export function endingHere(journal: Journal, id: RunId): Ending | undefined {
  return journal.find(id)?.ending;
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
