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
  /** Another server answers: what the one before had said is looked up there. */
  readonly verify: (timeline: string) => Promise<void>;
  readonly reconcile: () => Promise<void>;
  /** While no claim is on its way. */
  readonly exclusively: (act: () => Promise<void>) => Promise<void>;
  readonly footing: Pick<Footing, 'timeline' | 'leave' | 'stand'>;
  /** A server of this timeline has answered. */
  readonly follow: (timeline: string) => void;
  /** The same server has answered as before. */
  readonly confirmed: () => void;
}

export class Doubts {
  readonly #ports: DoubtsPorts;
  #miscounts = 0;
  /** What was told is to be looked up on another server: nothing is written before. */
  #isDoubtful = false;
  /** What is held is to be compared, however many they are. */
  #isUnsure = false;
  #isBusy = false;
  #timeline: string | undefined;

  constructor(ports: DoubtsPorts) {
    this.#ports = ports;
    this.#timeline = ports.footing.timeline;
  }

  /** After every heartbeat that was taken. */
  weigh({ timeline, claimCount }: Extract<BeatAnswer, { kind: 'taken' }>): void {
    const { count, isReady, footing, follow, confirmed } = this.#ports;
    const before = this.#timeline;
    if (before !== undefined && before !== timeline) {
      tell('store.failedOver', () => ({ from: before, to: timeline }));
      this.#isDoubtful = true;
      footing.leave(timeline);
    }
    if (before === undefined) footing.stand(timeline);
    if (before !== timeline) follow(timeline);
    else if (!this.#isDoubtful && !this.#isBusy) confirmed();
    this.#timeline = timeline;
    this.#miscounts = claimCount === count() ? 0 : this.#miscounts + 1;
    const isDue = this.#isUnsure || this.#miscounts > MISCOUNTS_MAX;
    if (this.#isBusy) return;
    // Whoever is only about to take its place writes too, and waits for this.
    if (this.#isDoubtful) this.#look(timeline);
    else if (isDue && isReady()) this.#look(undefined);
  }

  #look(movedTo: string | undefined): void {
    this.#miscounts = 0;
    this.#isDoubtful = false;
    this.#isUnsure = false;
    this.#isBusy = true;
    this.#compare(movedTo)
      .catch((error) => {
        // Until it has been looked at: what was lost is not found by anybody else.
        this.#isDoubtful ||= movedTo !== undefined;
        tell('store.failed', () => ({ what: 'held', error: describeError(error) }));
      })
      .finally(() => {
        this.#isBusy = false;
      });
  }

  async #compare(movedTo: string | undefined): Promise<void> {
    const { exclusively, verify, reconcile, isReady, footing } = this.#ports;
    await exclusively(async () => {
      if (movedTo !== undefined) {
        await verify(movedTo);
        footing.stand(movedTo);
        // The counts may agree by chance.
        this.#isUnsure = true;
      }
      if (!isReady()) return;
      await reconcile();
      this.#isUnsure = false;
    });
  }
}
