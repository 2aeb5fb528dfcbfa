/** Our default as the product has it: the pool, the law, the lease and the leader's estimate of src/throttle. */
import {
  FleetEstimate,
  firstShareOf,
  HybridLaw,
  Lease,
  type Newcomer,
  type Permit,
  PermitPool,
  type PodReport,
  type Published,
  policyOf,
  type ThrottlePolicy,
  toldOf,
} from '../../src/throttle/index.ts';
import type { Ended, Hint, Limiter } from './limiter.ts';
import type { World } from './world.ts';

/** After so many heartbeats a pod is taken for dead, as the default is. */
const SILENT_BEATS = 5;

export class OurLimiter implements Limiter {
  readonly #world: World;
  readonly pool: PermitPool;
  readonly lease: Lease;
  #toldPerSecond: number | undefined;

  constructor(world: World, key: string, policy: ThrottlePolicy, beatMs: number) {
    this.#world = world;
    const { mayBrake, isAdaptive } = policy;
    const law = new HybridLaw(0, { mayBrake, mayPace: isAdaptive });
    this.pool = new PermitPool(policy, law);
    this.lease = new Lease(key, law, this.pool, beatMs);
  }

  take(now: number): Permit | undefined {
    this.lease.turn(now);
    // As a throttle does with what headers say.
    this.pool.boundRates({ toldPerSecond: this.#toldPerSecond }, now);
    return this.pool.take('normal', 1, now);
  }

  end(leave: object, kind: Ended, now: number, hint?: Hint): void {
    this.pool.end(leave as Permit, { kind, hint }, now, this.#world.fraction());
  }

  heed(published: Published, now: number): void {
    this.#toldPerSecond = published.toldPerSecond;
    this.lease.heed(published, now, this.#world.fraction());
  }

  lookAt(now: number): number {
    return Math.min(this.pool.lookAtMs(1, now), this.lease.dueMs ?? Number.POSITIVE_INFINITY);
  }
}

/** The table of pods, and whoever leads: pods write and read it at their heartbeats and never else. */
export class OurFleet {
  readonly #world: World;
  readonly #beatMs: number;
  readonly policy: ThrottlePolicy;
  readonly reports = new Map<string, PodReport>();
  readonly decisions: Record<string, number> = {};
  #estimate: FleetEstimate;
  published: Published | undefined;

  constructor(world: World, beatMs: number, options: Parameters<typeof policyOf>[1] = {}) {
    this.#world = world;
    this.#beatMs = beatMs;
    this.policy = policyOf('api', options);
    this.#estimate = new FleetEstimate(this.policy);
    const tick = () => {
      this.#sweep();
      const chance = world.fraction();
      const published = this.#estimate.tick(this.reports, { nowMs: world.now, beatMs, chance });
      this.published = { ...published, toldPerSecond: toldOf(this.reports) };
      const { decision } = this.#estimate;
      this.decisions[decision] = (this.decisions[decision] ?? 0) + 1;
      world.at(world.now + beatMs, tick);
    };
    world.at(beatMs / 2, tick);
  }

  /** Another pod leads from now on: all it knows is what was published. */
  changeLeader(): void {
    this.#estimate = new FleetEstimate(this.policy, this.published);
  }

  join(key: string, waitingOf: () => number, onBeat: () => void): OurLimiter {
    const limiter = new OurLimiter(this.#world, key, this.policy, this.#beatMs);
    const wasEarly = this.published === undefined;
    let heardCount = 0;
    const beat = () => {
      const { now } = this.#world;
      if (!this.#left.has(key)) {
        this.reports.set(key, limiter.lease.report(waitingOf(), now));
        limiter.lease.told(now);
        if (this.published) limiter.heed(this.published, now);
        this.#begin(limiter, { heardCount: ++heardCount, wasEarly });
        onBeat();
        this.#world.at(now + this.#beatMs * this.#world.between(0.98, 1.02), beat);
      }
    };
    this.#world.at(this.#world.now + this.#world.fraction() * this.#beatMs, beat);
    return limiter;
  }

  /** Until it is counted it has what any newcomer has. */
  #begin({ lease }: OurLimiter, heard: Pick<Newcomer, 'heardCount' | 'wasEarly'>): void {
    const { now } = this.#world;
    const podCount = this.reports.size;
    const cap = this.published?.learned.cap;
    const { growsAtMs = now, ratesGrowAtMs = growsAtMs } = this.published ?? {};
    const isDividing = ratesGrowAtMs - now >= this.#beatMs;
    const share = firstShareOf(this.policy, { ...heard, podCount, cap, isDividing });
    const whole = Math.max(this.policy.start, cap ?? this.policy.start);
    lease.begin({ share, whole }, now, this.#world.fraction());
  }

  /** Whoever leads finds the dead at its heartbeats, and takes them off the table. */
  #sweep(): void {
    for (const [key, { atMs }] of this.reports) {
      if (this.#world.now - atMs > SILENT_BEATS * this.#beatMs) this.reports.delete(key);
    }
  }

  readonly #left = new Set<string>();
  /** Without a word, as by SIGKILL. */
  kill(key: string): void {
    this.#left.add(key);
  }
}
