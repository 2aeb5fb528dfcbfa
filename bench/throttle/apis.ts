/**
 * APIs whose true capacity is known: 50 calls at once of half a second each, or a hundred a second. One
 * refuses what does not fit at once, one has a quota, one lets calls wait in line, and one charges its
 * quota for what it refuses. Beside them two whose quota is a minute's, and who tell what is left of it.
 */
import type { Ended, Hint } from './limiter.ts';
import type { World } from './world.ts';

export const API_KINDS = ['inflight', 'quota', 'queueing', 'charging'] as const;
export type ApiKind = (typeof API_KINDS)[number];
/** They say in headers what is left of their quota. */
export const TELLING_KINDS = ['window', 'bucket'] as const;
export type TellingKind = (typeof TELLING_KINDS)[number];
export type Answer = (kind: Ended, hint?: Hint) => void;

export interface Api {
  call(answer: Answer): void;
  /** 1 as it was at the beginning; 0 is an outage. */
  scale: number;
  /** What it can take by now, in calls a second. */
  readonly perSecond: number;
}

const PERMITS = 50;
const LATENCY_MS = 500;
const SIGMA = 0.36;
const BURST = 50;
const TIMEOUT_MS = 5_000;
const MINUTE_MS = 60_000;
export const PER_SECOND = (PERMITS / LATENCY_MS) * 1_000;

export function apiOf(kind: ApiKind | TellingKind, world: World): Api {
  switch (kind) {
    case 'window':
      return new WindowApi(world);
    case 'bucket':
      return new BucketApi(world);
    case 'inflight':
      return new InFlightApi(world);
    case 'quota':
      return new QuotaApi(world, false);
    case 'charging':
      return new QuotaApi(world, true);
    default:
      return new QueueingApi(world);
  }
}

abstract class Base implements Api {
  readonly world: World;
  scale = 1;
  constructor(world: World) {
    this.world = world;
  }
  get perSecond(): number {
    return PER_SECOND * this.scale;
  }
  abstract call(answer: Answer): void;
  protected refuse(answer: Answer): void {
    const kind = this.scale === 0 ? 'failure' : 'throttled';
    this.world.at(this.world.now + this.world.between(30, 50), () => answer(kind));
  }
  protected latencyMs(): number {
    return this.world.around(LATENCY_MS, SIGMA);
  }
}

class InFlightApi extends Base {
  #inFlight = 0;
  call(answer: Answer): void {
    if (this.#inFlight >= PERMITS * this.scale) return this.refuse(answer);
    this.#inFlight++;
    this.world.at(this.world.now + this.latencyMs(), () => {
      this.#inFlight--;
      answer('ok');
    });
  }
}

class QuotaApi extends Base {
  readonly #charges: boolean;
  #tokens = BURST;
  #atMs = 0;
  constructor(world: World, charges: boolean) {
    super(world);
    this.#charges = charges;
  }
  call(answer: Answer): void {
    const { now } = this.world;
    const filled = this.#tokens + ((now - this.#atMs) / 1_000) * this.perSecond;
    this.#tokens = Math.min(BURST * this.scale, filled);
    this.#atMs = now;
    if (this.#tokens < 1) {
      if (this.#charges) this.#tokens = Math.max(0, this.#tokens - 1);
      return this.refuse(answer);
    }
    this.#tokens--;
    this.world.at(now + this.latencyMs(), () => answer('ok'));
  }
}

/** So many calls in each minute: it says how many are left, and when the next one begins. */
class WindowApi extends Base {
  #used = 0;
  #window = 0;
  call(answer: Answer): void {
    const quota = (this.perSecond * MINUTE_MS) / 1_000;
    this.#turn();
    if (this.#used >= quota) return this.refuse(answer);
    this.#used++;
    this.world.at(this.world.now + this.latencyMs(), () => {
      this.#turn();
      const resetMs = (this.#window + 1) * MINUTE_MS - this.world.now;
      answer('ok', { remaining: Math.max(0, quota - this.#used), resetMs: Math.max(1, resetMs) });
    });
  }
  #turn(): void {
    const window = Math.floor(this.world.now / MINUTE_MS);
    if (window === this.#window) return;
    this.#window = window;
    this.#used = 0;
  }
}

/** Fills up all the time: it says how many calls are left, and when it would be full. */
class BucketApi extends Base {
  #tokens = (PER_SECOND * MINUTE_MS) / 1_000;
  #atMs = 0;
  get #depth(): number {
    return (this.perSecond * MINUTE_MS) / 1_000;
  }
  call(answer: Answer): void {
    this.#fill();
    if (this.#tokens < 1) return this.refuse(answer);
    this.#tokens--;
    this.world.at(this.world.now + this.latencyMs(), () => {
      this.#fill();
      const resetMs = ((this.#depth - this.#tokens) / this.perSecond) * 1_000;
      answer('ok', { remaining: Math.floor(this.#tokens), resetMs: Math.max(1, resetMs) });
    });
  }
  #fill(): void {
    const { now } = this.world;
    const filled = this.#tokens + ((now - this.#atMs) / 1_000) * this.perSecond;
    this.#tokens = Math.min(this.#depth, filled);
    this.#atMs = now;
  }
}

/** Works on in calls that nobody waits for any more, as servers do. */
class QueueingApi extends Base {
  #busy = 0;
  readonly #line: (() => void)[] = [];
  call(answer: Answer): void {
    let isOver = false;
    const once: Answer = (kind) => {
      if (isOver) return;
      isOver = true;
      answer(kind);
    };
    this.world.at(this.world.now + TIMEOUT_MS, () => once('timeout'));
    const serve = () => {
      this.#busy++;
      this.world.at(this.world.now + this.latencyMs(), () => {
        this.#busy--;
        // Before the answer: whoever gets it calls again, and must not come before those in line.
        if (this.#busy < PERMITS * this.scale) this.#line.shift()?.();
        once('ok');
      });
    };
    if (this.#busy < PERMITS * this.scale && this.#line.length === 0) serve();
    else this.#line.push(serve);
  }
}
