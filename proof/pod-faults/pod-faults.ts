/** The cases, by name, and rounds of them on one Postgres. */
import { startPostgres } from '../../test/support/postgres.ts';
import { cloneHeirs } from './clone-heirs.ts';
import { damagedJournal } from './damaged-journal.ts';
import { damagedPage } from './damaged-page.ts';
import { fullDiskLeader } from './full-disk-leader.ts';
import { fullSlots } from './full-slots.ts';
import type { Promised } from './promised.ts';
import { refusedRegistration } from './refused-registration.ts';
import { Stage } from './stage.ts';
import { volumeClone } from './volume-clone.ts';

export interface Sizes {
  readonly tasks: number;
  readonly refusedMs: number;
  readonly cloneMs: number;
}

type Play = (stage: Stage, sizes: Sizes) => Promise<Promised[]>;

export const CASES = {
  'damaged-page': (stage, { tasks }) => damagedPage(stage, tasks),
  'damaged-journal': (stage) => damagedJournal(stage),
  'volume-clone': async (stage, { cloneMs }) => [
    ...(await volumeClone(stage, { clones: 3, tasks: 200, local: 9, watchMs: cloneMs })),
    ...(await cloneHeirs(stage, { clones: 3, local: 6 })),
  ],
  'full-disk-leader': (stage) => fullDiskLeader(stage),
  'full-slots': async (stage) => [
    ...(await fullSlots(stage, { slots: 4, tasks: 3, local: 8 })),
    ...(await fullSlots(stage, { slots: 1, tasks: 3, local: 0 })),
  ],
  'refused-registration': (stage, { refusedMs }) => refusedRegistration(stage, refusedMs),
} as const satisfies Record<string, Play>;

export type Case = keyof typeof CASES;

export interface Round {
  readonly case: Case;
  readonly round: number;
  readonly seconds: number;
  readonly promised: readonly Promised[];
  readonly isGood: boolean;
}

export interface RoundsOptions {
  readonly cases: readonly Case[];
  readonly rounds: number;
  readonly sizes: Sizes;
  readonly onRound?: ((round: Round) => void) | undefined;
}

/** Answers every round; a case that cannot be played at all throws. */
export async function playRounds(options: RoundsOptions): Promise<Round[]> {
  const played: Round[] = [];
  const postgres = await startPostgres(['max_connections=300']);
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const name of options.cases) {
        const stage = await Stage.open(postgres);
        const sinceMs = performance.now();
        try {
          const promised = await CASES[name](stage, options.sizes);
          const seconds = Math.round((performance.now() - sinceMs) / 1_000);
          const isGood = promised.every(({ isKept }) => isKept);
          played.push({ case: name, round, seconds, promised, isGood });
        } finally {
          await stage.close();
        }
        options.onRound?.(played.at(-1)!);
      }
    }
    return played;
  } finally {
    await postgres.remove();
  }
}
