/** Bugs to be planted: a server that took over carries out what was meant for the one before. */
import type { MemoryTables } from '../../src/store/memory/tables.ts';
import type { Store } from '../../src/store/store.ts';
import type { Mutant } from './mutants.ts';

function onAnyServer(name: string, asked: keyof Store, seeds: readonly number[]): Mutant {
  return {
    name,
    breaks: /^(I1[2369]|I23|I41|structure)/,
    seeds,
    changeCall: <A>(
      tables: MemoryTables,
      verb: keyof Store,
      _given: readonly unknown[],
      act: () => A,
    ): A => {
      if (verb !== asked) return act();
      Object.assign(tables, { isMeant: () => true });
      try {
        return act();
      } finally {
        Reflect.deleteProperty(tables, 'isMeant');
      }
    },
  };
}

export const SERVER_MUTANTS: readonly Mutant[] = [
  onAnyServer('settles-on-any-server', 'settle', [203, 83, 51]),
  onAnyServer('claims-on-any-server', 'claim', [187, 259, 211]),
];
