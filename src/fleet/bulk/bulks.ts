/** What the machine `fleet/bulk` is given: bulk operations, and what a run of it may do to them. */
import { type Clock, type Random, type RunId, runIdMint } from '../../ground/index.ts';
import { type Store, type StoreReader, shiftOf } from '../../store/index.ts';
import type { Life } from '../life.ts';
import { Shift } from './shift.ts';

/** How far a bulk operation is, for whoever looks at the run. */
export interface BulkProgress {
  readonly status: string;
  readonly found: number;
  readonly done: number;
  readonly requested: number;
  readonly already: number;
  readonly refused: number;
  readonly expected: number | undefined;
}

/** A run at a bulk operation. */
export interface BulkShift {
  readonly progress: BulkProgress;
  /** Goes on by one page. Answers whether there is more for this run to do. */
  turn(signal: AbortSignal): Promise<boolean>;
  /** Whether another run should go on from here: this one has been at it for long, or its pod leaves. */
  readonly isOver: boolean;
  handOver(): Promise<void>;
}

export interface BulkRun {
  readonly bulk: string;
  readonly run: string;
  readonly token: number;
  /** From 1: how often it was tried, by this process and by others. */
  readonly attempt: number;
}

export interface Bulks {
  /** Undefined where nothing is left to do for this run; `act` is given the shift otherwise. */
  work<Answer>(
    of: BulkRun,
    act: (shift: BulkShift) => Promise<Answer>,
  ): Promise<Answer | undefined>;
}

export interface BulksPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly life: () => Life | undefined;
}

/**
 * A run that goes on for hours would be counted as a killer of pods when the third of them dies under it,
 * whatever it had to do with that. So it hands over to a run that nobody has died of: in time, and when
 * it has been cut off and one page could be worked off since.
 */
const SHIFT_MS_MAX = 60_000;

export function bulksOf({ store, clock, random, life }: BulksPorts): Bulks {
  const mint = runIdMint(clock, random);
  return {
    work: async ({ bulk, run, token, attempt }, act) => {
      const row = await store.takeBulk({ id: bulk, run: run as RunId, token });
      if (!row) return undefined;
      const begunMs = clock.monotonicMs();
      const isLeaving = () => life()?.isDraining ?? false;
      // Where everything is written: what a replica has not heard of yet would be passed over for good.
      const reader: StoreReader = await store.openReader({ connectionsMax: 1 });
      const shift = new Shift(row, { store, reader, clock, isLeaving });
      try {
        return await act({
          turn: (signal) => shift.turn(signal),
          handOver: () => shift.handOver(shiftOf(bulk, mint())),
          get isOver() {
            return isLeaving() || attempt > 1 || clock.monotonicMs() - begunMs >= SHIFT_MS_MAX;
          },
          get progress() {
            return shift.row;
          },
        });
      } finally {
        await reader.close();
      }
    },
  };
}
