/**
 * One API in one process: who may call now, who waits, and what is learned from how calls end. All that
 * decides is in the pool and its law; here are the promises and the timer.
 */
import type { Cancel, Clock, Random } from '../ground/index.ts';
import type { CallPriority } from '../machine/index.ts';
import { classifyAnswer, classifyError } from './classify.ts';
import {
  PermitAbortedError,
  ThrottleDrainingError,
  ThrottleFullError,
  ThrottleParkedError,
} from './errors.ts';
import { Lease } from './fleet/lease.ts';
import type { Published } from './fleet/words.ts';
import { heardOutcome } from './heard.ts';
import { HybridLaw, LAWS, type Law } from './laws/index.ts';
import { Learner } from './learner.ts';
import { type CallOutcome, isCapacity } from './outcome.ts';
import { type Permit, PermitPool } from './permit-pool.ts';
import type { Priority, ThrottlePolicy } from './policy.ts';
import { backoffMs, notePostponement } from './postponement.ts';
import { type Waiter, Waiters } from './waiters.ts';
import { leftOf, spreadMs, whyNone } from './wanting.ts';

/** How often what was seen is looked at: as pods do with their heartbeats. */
const TICK_MS = 3_000;
const PARK_MS_MIN = 1_000;
const PARK_MS_MAX = 60_000;
/** More than this share of the permits is not for retries while others wait. */
const RETRY_SHARE_MAX = 0.2;

export interface AcquireOptions {
  readonly priority: CallPriority;
  readonly cost: number;
  readonly signal?: AbortSignal | undefined;
  /** Of the run that calls. */
  readonly route?: string | undefined;
}

interface Waiting extends Waiter {
  readonly give: (permit: Permit) => void;
  readonly refuse: (error: Error) => void;
}

export class Throttle {
  readonly policy: ThrottlePolicy;
  readonly pool: PermitPool;
  readonly learner: Learner | undefined;
  /** Its share of what the fleet has together; undefined where this process is by itself. */
  lease: Lease | undefined;
  /** What was published last, where it is the fleet's. */
  published: Published | undefined;
  /** Machines whose runs have had to wait here. */
  readonly routes = new Set<string>();
  /** When somebody last had to wait. */
  waitedMs = Number.NEGATIVE_INFINITY;
  readonly #law: Law;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Whether the fleet has one limit for it. */
  readonly isShared: boolean;
  readonly #waiters = new Waiters<Waiting>();
  #timer: { readonly atMs: number; readonly cancel: Cancel } | undefined;
  #isDraining = false;

  constructor(
    policy: ThrottlePolicy,
    ports: {
      readonly clock: Clock;
      readonly random: Random;
      /** Whether there is a fleet to share it with. */
      readonly isInFleet?: boolean | undefined;
    },
  ) {
    this.policy = policy;
    this.#clock = ports.clock;
    this.#random = ports.random;
    const isShared = policy.scope !== 'local' && ports.isInFleet === true;
    // Before the fleet was heard of, one call at a time is all that can be said to be safe.
    const law = LAWS[policy.law](isShared ? { ...policy, start: 1 } : policy);
    this.#law = law;
    this.pool = new PermitPool(policy, law);
    this.isShared = isShared;
    if (law instanceof HybridLaw && !isShared) {
      this.learner = new Learner(policy, law, this.pool, TICK_MS);
    }
  }

  /** From now on its limit is the share of the pod `key`. */
  lend(key: string, beatMs: number): void {
    if (this.isShared) this.lease = new Lease(key, this.#law as HybridLaw, this.pool, beatMs);
  }

  /** What it may have before this pod is counted; those who begin with a part of a permit are spread. */
  begin(share: number, nowMs: number): void {
    this.lease?.begin(share, nowMs, this.#random.fraction());
    if (this.#waiters.size > 0) this.#dispatch(nowMs);
  }

  /** What the leader has said of it. */
  heed(
    published: Published,
    at: { readonly nowMs: number; readonly sentMs: number; readonly chance: number },
  ): void {
    const { nowMs, sentMs, chance } = at;
    this.published = published;
    this.lease?.heed(published, nowMs, chance, sentMs);
    this.#divideRates();
    // Spread afterwards: all are told the same.
    const untilMs = published.madeMs + published.pausedMs;
    const isNews = untilMs > nowMs && untilMs > this.pool.pausedUntilMs;
    if (isNews) this.pool.pauseUntil(untilMs + 0.2 * chance * (untilMs - nowMs));
    if (this.#waiters.size > 0) this.#dispatch(nowMs);
  }

  #divideRates(): void {
    const { lease, published } = this;
    if (lease && published) this.pool.portion = lease.share / Math.max(1, published.learned.cap);
  }

  #turn(nowMs: number): void {
    this.learner?.turn(nowMs, this.#waiters.size);
    this.lease?.turn(nowMs);
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  get nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** A permit if there is one now, and nobody waits who comes before. */
  tryAcquire({ priority, cost }: AcquireOptions): Permit | undefined {
    const nowMs = this.nowMs;
    this.#turn(nowMs);
    if (this.#waiters.size > 0) this.#dispatch(nowMs);
    return this.#waiters.size > 0 ? undefined : this.pool.take(priority, cost, nowMs);
  }

  acquire(options: AcquireOptions): Permit | Promise<Permit> {
    const { signal } = options;
    if (signal?.aborted) throw new PermitAbortedError(this.policy.name, signal.reason);
    return this.tryAcquire(options) ?? this.#wait(options);
  }

  release(permit: Permit, outcome: CallOutcome): void {
    const nowMs = this.nowMs;
    this.pool.end(permit, outcome, nowMs, this.#random.fraction());
    this.#turn(nowMs);
    if (this.#waiters.size > 0) this.#dispatch(nowMs);
  }

  /** What this error says of the API; the run that it ends will wait where there was no room. */
  outcomeOfError(error: unknown, refusals: number, signal?: AbortSignal): CallOutcome {
    const outcome = this.#classified({ error }) ?? classifyError(error, this.#clock.now());
    if (signal?.aborted && outcome.kind === 'ignored') return { kind: 'cancelled' };
    if (isCapacity(outcome.kind)) {
      const { name: api } = this.policy;
      const delayMs = backoffMs(refusals, outcome.retryAfterMs, this.#random.fraction());
      notePostponement(error, { api, delayMs, why: `${api} had no room (${outcome.kind})` });
    }
    return outcome;
  }

  outcomeOfAnswer(value: unknown): CallOutcome {
    return this.#classified({ value }) ?? classifyAnswer(value, this.#clock.now());
  }

  /** How many more may come for a permit. */
  left(nowMs: number): number {
    return leftOf(this.pool, this.#waiters.size, nowMs);
  }

  /** How long a refused call had better wait. */
  delayMs(outcome: CallOutcome, refusals: number): number {
    return backoffMs(refusals, outcome.retryAfterMs, this.#random.fraction());
  }

  /** Nobody waits here any more; what can be had at once may still be. */
  drain(): void {
    this.#isDraining = true;
    const error = new ThrottleDrainingError(this.policy.name);
    for (const waiter of this.#waiters.takeAll()) waiter.refuse(error);
    this.#disarm();
  }

  /** Where the author's own word is none, or is not to be had, the default decides. */
  #classified(call: { error?: unknown; value?: unknown }): CallOutcome | undefined {
    try {
      const { classify } = this.policy;
      return classify && heardOutcome(classify(call));
    } catch {
      return undefined;
    }
  }

  #wait({ priority, cost, signal, route }: AcquireOptions): Promise<Permit> {
    const { name, waitingMax, parkAfterMs } = this.policy;
    const nowMs = this.nowMs;
    this.waitedMs = nowMs;
    if (route !== undefined) this.routes.add(route);
    if (this.#isDraining) throw new ThrottleDrainingError(name);
    if (this.#waiters.size >= waitingMax) {
      throw new ThrottleFullError(name, waitingMax, this.#parkMs(nowMs));
    }
    this.#parkIfLong(cost, nowMs);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiters.delete(waiter);
        reject(new PermitAbortedError(name, signal?.reason));
      };
      const done = () => signal?.removeEventListener('abort', onAbort);
      const waiter: Waiting = {
        priority,
        cost,
        sinceMs: nowMs,
        parkAtMs: nowMs + parkAfterMs,
        give: (permit) => {
          done();
          resolve(permit);
        },
        refuse: (error) => {
          done();
          reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
      this.#arm(waiter, nowMs);
    });
  }

  /** Where it is known that nothing begins for long, nobody need wait to find out. */
  #parkIfLong(cost: number, nowMs: number): void {
    const { closed } = this.pool;
    if (closed === 'full' || closed === 'none') return;
    const waitMs = this.pool.lookAtMs(cost, nowMs) - nowMs;
    if (waitMs > this.policy.parkAfterMs) throw this.#parked(nowMs, waitMs);
  }

  #parked(nowMs: number, waitMs = 0): ThrottleParkedError {
    const delayMs = Math.max(spreadMs(waitMs, this.#random.fraction()), this.#parkMs(nowMs));
    return new ThrottleParkedError(
      this.policy.name,
      whyNone(this.pool, this.published, nowMs),
      delayMs,
    );
  }

  /** About as long as those who wait already will take, spread so that not all come back at once. */
  #parkMs(nowMs: number): number {
    const latencyMs = this.pool.latencies.quantile(0.5) ?? PARK_MS_MIN;
    const rounds = this.#waiters.size / Math.max(1, this.pool.limit(nowMs));
    const wholeMs = Math.min(PARK_MS_MAX, Math.max(PARK_MS_MIN, rounds * latencyMs));
    return wholeMs * (0.75 + 0.5 * this.#random.fraction());
  }

  #dispatch(nowMs: number): void {
    const isHeldBack = (priority: Priority) =>
      priority === 'retry' &&
      this.pool.inFlightOf('retry') >= Math.max(1, RETRY_SHARE_MAX * this.pool.limit(nowMs));
    for (;;) {
      const next = this.#waiters.next(nowMs, isHeldBack);
      if (!next) return this.#disarm();
      const permit = this.pool.take(next.priority, next.cost, nowMs);
      if (!permit) break;
      this.#waiters.delete(next);
      next.give(permit);
    }
    for (const late of this.#waiters.takeLate(nowMs)) late.refuse(this.#parked(nowMs));
    const head = this.#waiters.next(nowMs, isHeldBack);
    if (head) this.#arm(head, nowMs);
  }

  #arm({ cost, parkAtMs }: Waiter, nowMs: number): void {
    const growsMs = this.lease?.dueMs ?? Number.POSITIVE_INFINITY;
    const atMs = Math.min(this.pool.lookAtMs(cost, nowMs), parkAtMs, growsMs);
    if (this.#timer && this.#timer.atMs <= atMs && this.#timer.atMs > nowMs) return;
    this.#disarm();
    const cancel = this.#clock.after(Math.max(1, atMs - nowMs), () => {
      this.#timer = undefined;
      const thenMs = this.nowMs;
      this.#turn(thenMs);
      this.#dispatch(thenMs);
    });
    this.#timer = { atMs, cancel };
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
