/**
 * A pod that has had nothing in hand for a while, where beating costs, goes to rest: its row goes down by
 * its own word, it beats no more, and looks at the store's mark now and then. When that has changed, or
 * something is due, the process takes its place again, as another life.
 *
 *   up ──nothing to do──→ resting ──mark, due, or a word from this process──→ up
 */
import { type Cancel, type Clock, describeError } from '../ground/index.ts';
import type { PodId, Repose, RestTimes, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { Life } from './life.ts';

export interface RestPorts {
  readonly store: Pick<Store, 'rest' | 'mark' | 'rise'>;
  readonly clock: Clock;
  readonly times: RestTimes;
  readonly onWake: () => void;
}

/** It was not quiet enough: asked again after so long. */
const AGAIN_MS = 30_000;

export class Rest {
  readonly #ports: RestPorts;
  #idleSinceMs: number | undefined;
  #isTrying = false;
  /** There is work here since this began to lie down. */
  #isNeeded = false;
  #pod: PodId | undefined;
  #cancel: Cancel | undefined;
  #isStopped = false;

  constructor(ports: RestPorts) {
    this.#ports = ports;
  }

  get isResting(): boolean {
    return this.#pod !== undefined;
  }

  /** After every heartbeat. */
  look(life: Life): void {
    const { clock, times } = this.#ports;
    const nowMs = clock.monotonicMs();
    const wasBusy = life.holdings.wasBusy();
    const isIdle = life.isReady && !life.isDraining && !wasBusy;
    if (!isIdle) this.#idleSinceMs = undefined;
    else this.#idleSinceMs ??= nowMs;
    if (this.#idleSinceMs === undefined || this.#isTrying || this.#isStopped) return;
    if (nowMs - this.#idleSinceMs < times.afterMs) return;
    this.#isTrying = true;
    this.#isNeeded = false;
    this.#idleSinceMs = nowMs - times.afterMs + AGAIN_MS;
    this.#lieDown(life)
      .catch((error) => tell('store.failed', () => ({ what: 'rest', error: describeError(error) })))
      .finally(() => {
        this.#isTrying = false;
      });
  }

  /** Something may be to do here. */
  wake(): void {
    this.#isNeeded = true;
    this.#idleSinceMs = undefined;
    if (this.#pod === undefined) return;
    tell('pod.woke', () => ({ pod: this.#pod! }));
    this.#cancel?.();
    this.#pod = undefined;
    if (!this.#isStopped) this.#ports.onWake();
  }

  /** The process ends: whoever looks is told that nobody will come back. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    if (this.#pod !== undefined) await this.#ports.store.rise?.(this.#pod);
  }

  /** No claim is on its way while the store is asked; where it says no, claiming goes on. */
  async #lieDown(life: Life): Promise<void> {
    await life.holdClaims();
    let repose: Repose | undefined;
    try {
      const isFree = life.holdings.size === 0 && !life.isDead && !this.#isStopped;
      repose = isFree && !this.#isNeeded ? await this.#ports.store.rest?.(life.id) : undefined;
    } finally {
      if (repose === undefined) life.goOnClaiming();
    }
    if (repose === undefined) return;
    // It was told to end meanwhile; or its heart was told first, and another life has begun.
    if (this.#isStopped) return this.#ports.store.rise?.(life.id);
    if (life.isDead) return;
    life.abandon();
    this.#pod = life.id;
    const { wakeInMs } = repose;
    tell('pod.rested', () => ({ pod: life.id, wakeInMs }));
    if (this.#isNeeded) this.wake();
    else this.#watch(repose);
  }

  #watch({ mark, wakeInMs = Number.POSITIVE_INFINITY }: Repose): void {
    const { clock, times } = this.#ports;
    const dueMs = clock.monotonicMs() + wakeInMs;
    let waitMs = times.lookMsMin;
    const next = () => {
      const leftMs = Math.max(0, dueMs - clock.monotonicMs());
      this.#cancel = clock.after(Math.min(waitMs, leftMs), () => void look());
      waitMs = Math.min(times.lookMsMax, 2 * waitMs);
    };
    const look = async () => {
      const pod = this.#pod;
      if (this.#isStopped || clock.monotonicMs() >= dueMs) return this.wake();
      // Where nobody answers there is nothing to be up for.
      const seen = await this.#ports.store.mark?.().catch((error) => {
        tell('store.failed', () => ({ what: 'mark', error: describeError(error) }));
        return mark;
      });
      if (this.#pod !== pod || this.#isStopped) return;
      if (seen === mark) next();
      else this.wake();
    };
    next();
  }
}
