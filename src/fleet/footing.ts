/**
 * The server that this life stands on. One that takes over may lack what the one before had said, and
 * whatever was written there behind a record that it lacks would leave a hole for ever; nor may this pod
 * claim there what it has in hand. So each write names the server it is meant for, and another one refuses
 * it; and from the moment another one is heard of until all that this pod was told has been compared with
 * it, nothing is written, and no answer of the one before is believed any more.
 *
 *   stands on A ── B has answered ──▶ stands nowhere ── compared, and written again ──▶ stands on B
 */
import { type Store, type StoreTransaction, storeMoved, TIMELINE_EPOCHS } from '../store/index.ts';
import type { Memory } from './memory.ts';

type Written = 'claim' | 'held' | 'settle' | 'archive' | 'begin' | 'settled';

export class Footing implements Pick<Store, Written> {
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #onFirm: () => void;
  /** The server that has answered last, where it is not known yet what it has. */
  #ahead: string | undefined;
  #moves = 0;

  constructor(store: Store, memory: Memory, onFirm: () => void) {
    this.#store = store;
    this.#memory = memory;
    this.#onFirm = onFirm;
  }

  get timeline(): string | undefined {
    return this.#memory.timeline;
  }

  /** How often another server has answered than the one before. */
  get moves(): number {
    return this.#moves;
  }

  /** Whatever is to be written now may be. */
  get isFirm(): boolean {
    return this.#ahead === undefined;
  }

  /** Another server has answered. */
  leave(ahead: string): void {
    this.#ahead = ahead;
    this.#moves += 1;
  }

  /** It has all that this pod was told, or it was said what it has not. */
  stand(timeline: string): void {
    this.#memory.timeline = timeline;
    // Yet another may have answered meanwhile.
    if (this.#ahead !== timeline) return;
    this.#ahead = undefined;
    this.#onFirm();
  }

  /** Whether a claim was given out by a server before this one. */
  isPast(epoch: number): boolean {
    return this.#moves > 0 && epoch < Number.parseInt(this.timeline ?? '', 16) * TIMELINE_EPOCHS;
  }

  claim: Store['claim'] = (request) =>
    this.#on((timeline) => this.#store.claim({ ...request, timeline }));
  held: Store['held'] = (pod, after, countMax, bytesMax) =>
    this.#on((timeline) => this.#store.held(pod, after, countMax, bytesMax, timeline));
  settle: Store['settle'] = (pod, settlements) =>
    this.#on((timeline) => this.#store.settle(pod, settlements, timeline));
  archive: Store['archive'] = (segments) =>
    this.#on((timeline) => this.#store.archive(segments, timeline));
  settled: Store['settled'] = (pod, persisted) =>
    this.#on((timeline) => this.#store.settled(pod, persisted, timeline));

  begin = async (): Promise<StoreTransaction> => {
    const tx = await this.#store.begin();
    return {
      native: tx.native,
      query: (text, values) => tx.query(text, values),
      rollback: () => tx.rollback(),
      commit: async (pod, persisted) => {
        const [timeline, moves] = [this.timeline, this.#moves];
        if (!this.isFirm) {
          await tx.rollback();
          throw storeMoved();
        }
        const answer = await tx.commit(pod, persisted, timeline);
        // It was there, and may be there no more: whoever asks next hears which of the two.
        return moves === this.#moves ? answer : 'doubt';
      },
    };
  };

  async #on<Answer>(act: (timeline: string | undefined) => Promise<Answer>): Promise<Answer> {
    if (!this.isFirm) throw storeMoved();
    const moves = this.#moves;
    const answer = await act(this.timeline);
    if (moves !== this.#moves) throw storeMoved();
    return answer;
  }
}
