/**
 * Feeds the engine: takes due tasks in batches of what the pod's capacity leaves, as long as it may.
 * Nobody tells it to; a hint only makes it look sooner than its ladder would.
 */
import { type Cancel, type Clock, describeError, type Random } from '../ground/index.ts';
import type { ClaimedTask, ClaimRequest, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { Ladder } from './ladder.ts';

const BATCH_COUNT_MAX = 500;
/** Shortly after a claim, fewer free places than this are not worth a statement of their own. */
const WORTHWHILE_SHARE = 0.25;
const GATHER_MS = 50;
const CROWDED_MS = 5;

export interface ClaimerPorts {
  readonly store: Pick<Store, 'claim'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly idlePollMs: number;
  readonly request: () => Omit<ClaimRequest, 'countMax' | 'token'>;
  /** How many more runs may be in hand; 0 where the pod may not claim now. */
  readonly room: () => number;
  readonly capacity: () => number;
  readonly accept: (tasks: readonly ClaimedTask[]) => Promise<void>;
}

export class Claimer {
  readonly #ports: ClaimerPorts;
  readonly #ladder: Ladder;
  #cancel: Cancel | undefined;
  #claiming: Promise<void> | undefined;
  #isStopped = true;
  #isHinted = false;
  #claimedMs = Number.NEGATIVE_INFINITY;

  constructor(ports: ClaimerPorts) {
    this.#ports = ports;
    this.#ladder = new Ladder(ports.idlePollMs);
  }

  start(): void {
    this.#isStopped = false;
    this.#claimAfter(0);
  }

  /** Resolves when no claim is on its way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#claiming;
  }

  /** Runs `act` while no claim is on its way, so that no answer is still to come. */
  async exclusively(act: () => Promise<void>): Promise<void> {
    while (this.#claiming) await this.#claiming;
    this.#cancel?.();
    this.#claiming = act().finally(() => {
      this.#claiming = undefined;
      this.#claimAfter(0);
    });
    await this.#claiming;
  }

  /** Something may be ready: looks at once, or right after the look that is under way. */
  hint(): void {
    this.#isHinted = true;
    this.#ladder.reset();
    if (!this.#claiming) this.#claimAfter(0);
  }

  #claimAfter(ms: number): void {
    if (this.#isStopped) return;
    this.#cancel?.();
    this.#cancel = this.#ports.clock.after(ms, () => {
      this.#claiming = this.#poll().then((waitMs) => {
        this.#claiming = undefined;
        this.#claimAfter(this.#isHinted ? Math.min(waitMs, CROWDED_MS) : waitMs);
      });
    });
  }

  /** Answers how long to wait before the next look. */
  async #poll(): Promise<number> {
    const { store, clock, random, room, capacity, request, accept } = this.#ports;
    const free = Math.min(room(), BATCH_COUNT_MAX);
    const sinceMs = clock.monotonicMs() - this.#claimedMs;
    if (free <= 0) return CROWDED_MS;
    if (free < capacity() * WORTHWHILE_SHARE && sinceMs < GATHER_MS) return CROWDED_MS;
    this.#isHinted = false;
    this.#claimedMs = clock.monotonicMs();
    try {
      const token = random.hex(8);
      const tasks = await store.claim({ ...request(), countMax: free, token });
      tell('claim.answered', () => ({ asked: free, got: tasks.length }));
      await accept(tasks);
      if (tasks.length === free) return 0;
      if (tasks.length > 0) this.#ladder.reset();
    } catch (error) {
      tell('store.failed', () => ({ what: 'claim', error: describeError(error) }));
    }
    return this.#ladder.next(() => random.fraction());
  }
}
