/** A pod with more to do than it may: every slot calls, and after a refusal backs off and calls again. */
import type { Api } from './apis.ts';
import type { Ended, Limiter } from './limiter.ts';
import type { World } from './world.ts';

export interface Log {
  sent(now: number, pod: number): void;
  ended(kind: Ended, sentAt: number, now: number, pod: number): void;
}

const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 60_000;

export class Pod {
  readonly index: number;
  readonly #world: World;
  readonly #api: Api;
  readonly #log: Log;
  #limiter!: Limiter;
  /** Failures in a row of each slot that could call now. */
  readonly #ready: number[];
  #lookAt = Number.POSITIVE_INFINITY;
  isGone = false;

  constructor(index: number, world: World, api: Api, log: Log, slots: number) {
    this.index = index;
    this.#world = world;
    this.#api = api;
    this.#log = log;
    this.#ready = Array.from({ length: slots }, () => 0);
  }

  get waiting(): number {
    return this.#ready.length;
  }

  start(limiter: Limiter): void {
    this.#limiter = limiter;
    this.#world.at(this.#world.now, () => this.go());
  }

  go(): void {
    while (!this.isGone && this.#ready.length > 0) {
      const leave = this.#limiter.take(this.#world.now);
      if (!leave) return this.#lookLater();
      this.#call(leave, this.#ready.pop()!);
    }
  }

  #lookLater(): void {
    const at = this.#limiter.lookAt(this.#world.now);
    if (!Number.isFinite(at) || (this.#lookAt <= at && this.#lookAt > this.#world.now)) return;
    this.#lookAt = at;
    this.#world.at(at, () => {
      if (this.#lookAt !== at) return;
      this.#lookAt = Number.POSITIVE_INFINITY;
      this.go();
    });
  }

  #call(leave: object, failures: number): void {
    const sentAt = this.#world.now;
    this.#log.sent(sentAt, this.index);
    this.#api.call((kind, hint) => {
      const { now } = this.#world;
      this.#log.ended(kind, sentAt, now, this.index);
      this.#limiter.end(leave, kind, now, hint);
      const again = kind === 'ok' ? 0 : failures + 1;
      const backoffMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** Math.min(again - 1, 10));
      const waitMs = again === 0 ? 0 : backoffMs * this.#world.fraction();
      if (waitMs === 0) this.#back(again);
      else this.#world.at(now + waitMs, () => this.#back(again));
      this.go();
    });
  }

  #back(failures: number): void {
    this.#ready.unshift(failures);
    this.go();
  }
}
