/** Bugs to be planted: each breaks one rule, at a port, and the simulation has to notice. */
import type { MakeHeart } from '../../src/fleet/index.ts';
import type { Journal } from '../../src/journal/index.ts';
import type { MemoryTables } from '../../src/store/memory/tables.ts';
import type { Beat } from '../../src/store/pods.ts';
import type { Store } from '../../src/store/store.ts';
import type { Segment, Settlement, TakenTask } from '../../src/store/tasks.ts';

export interface Mutant {
  readonly name: string;
  /** Carries a call out in its own way. */
  readonly changeCall?: <A>(
    tables: MemoryTables,
    verb: keyof Store,
    given: readonly unknown[],
    act: () => A,
  ) => A;
  readonly changeHeart?: (make: MakeHeart) => MakeHeart;
  readonly changeJournal?: (journal: Journal) => Journal;
}

export const MUTANTS: readonly Mutant[] = [];
