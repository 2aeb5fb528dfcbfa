/**
 * Says that a pod is dead whose death is proved. The last statement of its process may still be held
 * by the server, and its row with it: then this comes back until it has been answered.
 */
import { type Clock, describeError, pause } from '../ground/index.ts';
import { type PodId, type Store, StoreBusyError } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { Ladder } from './ladder.ts';

export interface FencePorts {
  readonly store: Pick<Store, 'fence'>;
  readonly clock: Clock;
  readonly by: PodId;
  /** A row that is locked for longer than this is left to the sweep, which comes back for ever. */
  readonly budgetMs: number;
}

/** Answers whether it was up or draining before, and is dead now; undefined where that is still open. */
export async function fenceProven(pod: PodId, ports: FencePorts): Promise<boolean | undefined> {
  const { store, clock, by, budgetMs } = ports;
  const untilMs = clock.monotonicMs() + budgetMs;
  const ladder = new Ladder();
  for (;;) {
    try {
      return await store.fence(pod, by, 'proved');
    } catch (error) {
      if (!(error instanceof StoreBusyError)) throw error;
      tell('store.failed', () => ({ what: 'fence', error: describeError(error) }));
      if (clock.monotonicMs() >= untilMs) return undefined;
      await pause(
        clock,
        ladder.next(() => 0.5),
      );
    }
  }
}
