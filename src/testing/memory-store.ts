/** Shared tables without a database, for tests of several pods in one process. */
import { type Clock, type Random, systemClock, systemRandom } from '../ground/index.ts';
import { MemoryStore, MemoryTables, type Store } from '../store/index.ts';

/** A store that others in this process can share. A fleet closes the handle that it was given. */
export interface SharedStore extends Store {
  /** One more handle on the same tables: each pod needs one of its own. */
  another(): SharedStore;
}

export interface MemoryStoreOptions {
  /** The clock of the tables, as a server has one; give it to the fleets too. */
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
}

export function memoryStore(options: MemoryStoreOptions = {}): SharedStore {
  const { clock = systemClock, random = systemRandom } = options;
  return handleOn(new MemoryTables({ clock, random }));
}

function handleOn(tables: MemoryTables): SharedStore {
  return Object.assign(new MemoryStore(tables), { another: () => handleOn(tables) });
}
