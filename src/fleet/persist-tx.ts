/**
 * The transaction of one persist, begun when its author first uses it. A commit whose answer is lost is
 * settled by looking: the store is asked until it says whether it happened, and nothing is done twice.
 */
import type { PhaseTx } from '../engine/index.ts';
import { type Clock, describeError, pause, type Random } from '../ground/index.ts';
import type { StoreTx } from '../machine/index.ts';
import {
  knowNative,
  type Persisted,
  type PodId,
  type Store,
  type StoreTransaction,
  transactionOver,
} from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { CommitLostError } from './errors.ts';
import { Ladder } from './ladder.ts';

export interface PersistPorts {
  readonly store: Pick<Store, 'begin' | 'settled'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly pod: PodId;
}

export class PersistTx implements PhaseTx {
  readonly handle: StoreTx;
  readonly #ports: PersistPorts;
  #opening: Promise<StoreTransaction> | undefined;
  #isOver = false;

  constructor(ports: PersistPorts) {
    this.#ports = ports;
    this.handle = {
      query: async <Row>(sql: string, values?: readonly unknown[]) =>
        (await (await this.#open()).query(sql, values)) as Row[],
    };
    knowNative(this.handle, async () => (await this.#open()).native);
  }

  get isUsed(): boolean {
    return this.#opening !== undefined;
  }

  async #open(): Promise<StoreTransaction> {
    if (this.#isOver) throw transactionOver();
    this.#opening ??= this.#ports.store.begin();
    const opened = await this.#opening;
    if (this.#isOver) throw transactionOver();
    return opened;
  }

  abandon(): void {
    this.#isOver = true;
    this.#opening?.then((opened) => opened.rollback()).catch(() => undefined);
  }

  /** `isOver` says whether anybody still wants to know: the run may have been lost meanwhile. */
  async commit(persisted: Persisted, isOver: () => boolean): Promise<'stood' | 'lost'> {
    const opened = await this.#open();
    this.#isOver = true;
    const answer = await opened.commit(this.#ports.pod, persisted);
    return answer === 'doubt' ? this.#settle(persisted, isOver) : answer;
  }

  async #settle(persisted: Persisted, isOver: () => boolean): Promise<'stood' | 'lost'> {
    const { store, clock, random, pod } = this.#ports;
    const ladder = new Ladder();
    while (!isOver()) {
      const found = await store.settled(pod, persisted).catch((error: unknown) => {
        tell('store.failed', () => ({ what: 'persist', error: describeError(error) }));
        return undefined;
      });
      if (found === 'open') throw new CommitLostError();
      if (found !== undefined) return found;
      const restMs = ladder.next(() => random.fraction());
      await pause(clock, restMs);
    }
    return 'lost';
  }
}
