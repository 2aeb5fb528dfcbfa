/** How a dead pod's tasks change hands, and what has become of each. */
import type { RunId } from '../ground/index.ts';
import type { ClaimedTask } from './tasks.ts';
import type { Claim, PodId, TaskStatus } from './words.ts';

/** How to take the tasks of a pod that is dead. */
export interface Taking {
  readonly from: PodId;
  /** Whoever sweeps, or adopts. */
  readonly by: PodId;
  /** `pool`: back to the fleet. `taker`: its own successor on the same disk goes on with them. */
  readonly to: 'pool' | 'taker';
  readonly countMax: number;
  /** Only those that somebody has asked to pause; that belong to no host; or that it has by these claims. */
  readonly only?: 'paused' | 'free' | readonly Claimed[] | undefined;
  /**
   * Whose death counts as a crash: of all, of nobody (an outage), or of these. Whatever is said here,
   * nothing counts where the pod ended by its own word: a deploy costs nothing.
   */
  readonly crashed: 'all' | 'none' | readonly RunId[];
  /** Requeued tasks become due within this time, spread by chance. */
  readonly spreadMs: number;
  /** As in a claim, for what the taker gets; whatever goes to the pool comes without its payload. */
  readonly payloadBytesMax?: number | undefined;
}

/** A claim by its task and epoch alone. */
export type Claimed = Pick<Claim, 'task' | 'epoch'>;

/** A task that changed hands. Where it is `claimed` it is the taker's, under the new epoch. */
export interface TakenTask extends ClaimedTask {
  /** The epoch it had before it was taken. */
  readonly previousEpoch: number;
  readonly status: TaskStatus;
  readonly outcome: string | undefined;
  readonly error: string | undefined;
}
