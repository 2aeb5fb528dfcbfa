/**
 * The heartbeat as the pod sees it. In a process it beats in a thread of its own, with a connection of
 * its own, so that a busy main loop does not look like a dead pod; in a simulation it beats inline.
 * Either way it tells until when phases of claimed runs may begin (I10).
 */
import type { Clock } from '../ground/index.ts';
import type { PodId, Store } from '../store/index.ts';
import { BeatLoop, type Heard, type News } from './beat-loop.ts';

export interface HeartOptions {
  readonly pod: PodId;
  readonly nonce: string;
  readonly heartbeatMs: number;
  readonly silentMs: number;
  readonly clock: Clock;
  readonly mintNonce: () => string;
  readonly news: () => News;
  readonly onHeard: (heard: Heard) => void;
  /** `sentMs` where it was a beat that failed, and not the heart itself. */
  readonly onFailed: (error: unknown, sentMs?: number) => void;
}

export interface Heart {
  /** After this monotonic time no phase of a claimed run begins. */
  readonly deadlineMs: number;
  /** Resolves when it can beat at once. To be called before the pod registers: its silence begins then. */
  ready(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** A pod's heart for this store: threads where that is possible. */
export type MakeHeart = (options: HeartOptions) => Heart;

/** Until when a beat that was sent at `sentMs` and taken lets phases begin: one heartbeat early. */
export function deadlineOf(
  sentMs: number,
  { silentMs, heartbeatMs }: Pick<HeartOptions, 'silentMs' | 'heartbeatMs'>,
): number {
  return sentMs + silentMs - heartbeatMs;
}

export function inlineHeart(store: Pick<Store, 'beat'>): MakeHeart {
  return (options) => new InlineHeart(store, options);
}

class InlineHeart implements Heart {
  readonly #loop: BeatLoop;
  deadlineMs = Number.NEGATIVE_INFINITY;

  constructor(store: Pick<Store, 'beat'>, options: HeartOptions) {
    this.#loop = new BeatLoop({
      ...options,
      store,
      isAlive: () => true,
      onHeard: (heard) => {
        if (heard.answer.kind === 'taken') this.deadlineMs = deadlineOf(heard.sentMs, options);
        options.onHeard(heard);
      },
    });
  }

  async ready(): Promise<void> {}
  start(): void {
    this.#loop.start();
  }
  stop(): Promise<void> {
    return this.#loop.stop();
  }
}
