/**
 * APIs whose true capacity is known: by default 50 calls at once of half a second, or a hundred a second. One
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
  /** A call takes so many times as long as at the beginning. */
  slowness: number;
  /** How long it takes at least and at most to say no, or to fail. */
  refusalMs: readonly [number, number];
  /** What it can take by now, in calls a second. */
  readonly perSecond: number;
}

export interface ApiShape {
  /** Calls at once; quotas allow as many a second as those would be at the beginning. */
  readonly permits: number;
  readonly latencyMs: number;
  /** How much latencies differ: the spread of their logarithm. */
  readonly sigma: number;
}

const SHAPE: ApiShape = { permits: 50, latencyMs: 500, sigma: 0.36 };
const BURST = 50;
const TIMEOUT_MS = 5_000;
const MINUTE_MS = 60_000;
export const PER_SECOND = (SHAPE.permits / SHAPE.latencyMs) * 1_000;

export function apiOf(
  kind: ApiKind | TellingKind,
  world: World,
  given: Partial<ApiShape> = {},
): Api {
  const shape = { ...SHAPE, ...given };
  switch (kind) {
    case 'window':
      return new WindowApi(world, shape);
    case 'bucket':
      return new BucketApi(world, shape);
    case 'inflight':
      return new InFlightApi(world, shape);
    case 'quota':
      return new QuotaApi(world, shape, false);
    case 'charging':
      return new QuotaApi(world, shape, true);
    default:
      return new QueueingApi(world, shape);
  }
}

abstract class Base implements Api {
  readonly world: World;
  readonly shape: ApiShape;
  scale = 1;
  slowness = 1;
  refusalMs: readonly [number, number] = [30, 50];
  constructor(world: World, shape: ApiShape) {
    this.world = world;
    this.shape = shape;
  }
  get perSecond(): number {
    return ((this.shape.permits * 1_000) / this.shape.latencyMs) * this.scale;
  }
  abstract call(answer: Answer): void;
  protected refuse(answer: Answer): void {
    const kind = this.scale === 0 ? 'failure' : 'throttled';
    this.world.at(this.world.now + this.world.between(...this.refusalMs), () => answer(kind));
  }
  protected latencyMs(): number {
    const { latencyMs, sigma } = this.shape;
    return this.world.around(latencyMs * this.slowness, sigma);
  }
}

/** The longer each takes, the fewer there are. */
abstract class Working extends Base {
  override get perSecond(): number {
    return super.perSecond / this.slowness;
  }
}

class InFlightApi extends Working {
  #inFlight = 0;
  call(answer: Answer): void {
    if (this.#inFlight >= this.shape.permits * this.scale) return this.refuse(answer);
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
  constructor(world: World, shape: ApiShape, charges: boolean) {
    super(world, shape);
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
  #tokens = (this.perSecond * MINUTE_MS) / 1_000;
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
class QueueingApi extends Working {
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
        // Before the answer: whoever gets it calls again, and must not come before those in line. As many as
        // there is room for: it may have become more.
        while (this.#busy < this.shape.permits * this.scale && this.#line.length > 0) {
          this.#line.shift()!();
        }
        once('ok');
      });
    };
    if (this.#busy < this.shape.permits * this.scale && this.#line.length === 0) serve();
    else this.#line.push(serve);
  }
}
