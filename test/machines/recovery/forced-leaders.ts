/** Leaders that believe in themselves, each with a journal of its own, over the same tables. */
import { recoveryMachines } from '../../../machines/recovery/index.ts';
import type { Life } from '../../../src/fleet/index.ts';
import { type Recovery, recoveryOf } from '../../../src/fleet/index.ts';
import { createFleet, type Fleet } from '../../../src/index.ts';
import { MemoryStore, type MemoryTables, type Way } from '../../../src/store/index.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { below, seededRandom } from '../../support/seeded-random.ts';

export const SILENT_MS = 5_000;

/** Every call takes some turns of the loop, so that those of several leaders mix. */
export function mixing(seed: number): Way {
  const random = seededRandom(seed);
  return async (_verb, act) => {
    for (let turns = below(random, 6); turns > 0; turns--) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    return act();
  };
}

/** What a leader may do, with nobody to tell it that it does not lead. */
export function forcedRecovery(store: MemoryStore, clock: FakeClock, name: string): Recovery {
  const everybody = { silent: () => worklist };
  let worklist: Awaited<ReturnType<MemoryStore['worklist']>>['silent'] = [];
  const life = {
    id: name,
    isDead: false,
    watch: {
      ...everybody,
      fading: () => [],
      isSteady: () => true,
      isTurnOf: () => true,
      leader: name,
    },
  } as unknown as Life;
  const recovery = recoveryOf({
    store,
    clock,
    silentMs: SILENT_MS,
    retentionMs: 3_600_000,
    life: () => life,
    deadLetters: {
      refresh: async () => 0,
      list: () => [],
      find: () => undefined,
      close: () => undefined,
    },
  });
  return {
    ...recovery,
    worklist: async () => {
      // It has seen for itself whatever the store says.
      worklist = (await store.worklist(SILENT_MS)).silent;
      return recovery.worklist();
    },
  };
}

export interface ForcedLeader {
  readonly fleet: Fleet;
  sweep(): Promise<unknown>;
}

export async function forceLeader(
  tables: MemoryTables,
  clock: FakeClock,
  dataDir: string,
  seed: number,
  change: (recovery: Recovery) => Recovery = (recovery) => recovery,
): Promise<ForcedLeader> {
  const store = new MemoryStore(tables, { way: mixing(seed) });
  const recovery = change(forcedRecovery(store, clock, `leader-${seed}`));
  const fleet = await createFleet({
    machines: recoveryMachines(recovery),
    dataDir,
    clock,
    random: seededRandom(seed),
    socket: false,
  });
  return {
    fleet,
    sweep: async () => {
      const run = await fleet.startByName('recovery/sweep', { pod: `leader-${seed}` });
      return run.result();
    },
  };
}
