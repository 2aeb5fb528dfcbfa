/**
 * When what a pod holds has to be compared with what the store says it holds: after the counts have
 * differed for a while, and whenever another server answers, which may have lost what the one before
 * had said.
 */
import { describeError } from '../ground/index.ts';
import type { BeatAnswer } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { Footing } from './footing.ts';

/** Claims on their way make the counts differ; only a lasting difference is looked into. */
const MISCOUNTS_MAX = 2;

export interface DoubtsPorts {
  /** How many claims this pod believes to hold. */
  readonly count: () => number;
  readonly isReady: () => boolean;
  /** `movedTo`: another server answers, which may have lost what the one before had said. */
  readonly reconcile: (movedTo: string | undefined) => Promise<void>;
  readonly footing: Pick<Footing, 'timeline' | 'leave' | 'stand'>;
  /** A server of this timeline has answered. */
  readonly follow: (timeline: string) => void;
  /** The same server has answered as before. */
  readonly confirmed: () => void;
}

export class Doubts {
  readonly #ports: DoubtsPorts;
  #miscounts = 0;
  #isDoubtful = false;
  #isReconciling = false;
  #timeline: string | undefined;

  constructor(ports: DoubtsPorts) {
    this.#ports = ports;
    this.#timeline = ports.footing.timeline;
  }

  /** After every heartbeat that was taken. */
  weigh({ timeline, claimCount }: Extract<BeatAnswer, { kind: 'taken' }>): void {
    const { count, isReady, reconcile, footing, follow, confirmed } = this.#ports;
    const before = this.#timeline;
    if (before !== undefined && before !== timeline) {
      tell('store.failedOver', () => ({ from: before, to: timeline }));
      this.#isDoubtful = true;
      footing.leave();
    }
    if (before === undefined) footing.stand(timeline);
    if (before !== timeline) follow(timeline);
    else if (!this.#isDoubtful && !this.#isReconciling) confirmed();
    this.#timeline = timeline;
    this.#miscounts = claimCount === count() ? 0 : this.#miscounts + 1;
    const isDue = this.#isDoubtful || this.#miscounts > MISCOUNTS_MAX;
    if (!isDue || this.#isReconciling || !isReady()) return;
    this.#miscounts = 0;
    const hasMoved = this.#isDoubtful;
    this.#isDoubtful = false;
    this.#isReconciling = true;
    reconcile(hasMoved ? timeline : undefined)
      .catch((error) => {
        // Until it has been looked at: what was lost is not found by anybody else.
        this.#isDoubtful ||= hasMoved;
        tell('store.failed', () => ({ what: 'held', error: describeError(error) }));
      })
      .finally(() => {
        this.#isReconciling = false;
      });
  }
}
