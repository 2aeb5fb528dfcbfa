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
import { HybridLaw, LAWS } from './laws/index.ts';
import { Learner } from './learner.ts';
import { type CallOutcome, isCapacity, type OutcomeKind } from './outcome.ts';
import { type Permit, PermitPool } from './permit-pool.ts';
import type { Priority, ThrottlePolicy } from './policy.ts';
import { backoffMs, notePostponement } from './postponement.ts';
import { type Waiter, Waiters } from './waiters.ts';

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
}

interface Waiting extends Waiter {
  readonly give: (permit: Permit) => void;
  readonly refuse: (error: Error) => void;
}

export class Throttle {
  readonly policy: ThrottlePolicy;
  readonly pool: PermitPool;
  readonly learner: Learner | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #waiters = new Waiters<Waiting>();
  #timer: { readonly atMs: number; readonly cancel: Cancel } | undefined;
  #isDraining = false;

  constructor(policy: ThrottlePolicy, ports: { readonly clock: Clock; readonly random: Random }) {
    this.policy = policy;
    this.#clock = ports.clock;
    this.#random = ports.random;
    const law = LAWS[policy.law](policy);
    this.pool = new PermitPool(policy, law);
    if (law instanceof HybridLaw) this.learner = new Learner(policy, law, this.pool, TICK_MS);
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
    this.learner?.turn(nowMs, this.#waiters.size);
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
    this.learner?.turn(nowMs, this.#waiters.size);
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

  #classified(call: { error?: unknown; value?: unknown }): CallOutcome | undefined {
    const said = this.policy.classify?.(call);
    return typeof said === 'string' ? { kind: said as OutcomeKind } : said;
  }

  #wait({ priority, cost, signal }: AcquireOptions): Promise<Permit> {
    const { name, waitingMax, parkAfterMs } = this.policy;
    const nowMs = this.nowMs;
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

  #parked(nowMs: number, waitMs?: number): ThrottleParkedError {
    const delayMs = Math.max(waitMs ?? 0, this.#parkMs(nowMs));
    return new ThrottleParkedError(this.policy.name, this.why(nowMs), delayMs);
  }

  /** About as long as those who wait already will take, spread so that not all come back at once. */
  #parkMs(nowMs: number): number {
    const latencyMs = this.pool.latencies.quantile(0.5) ?? PARK_MS_MIN;
    const rounds = this.#waiters.size / Math.max(1, this.pool.limit(nowMs));
    const wholeMs = Math.min(PARK_MS_MAX, Math.max(PARK_MS_MIN, rounds * latencyMs));
    return wholeMs * (0.75 + 0.5 * this.#random.fraction());
  }

  /** Why nothing begins now, for people. */
  why(nowMs: number): string {
    switch (this.pool.closed) {
      case 'paused':
        return 'the API asked to be left alone';
      case 'open':
        return 'the API fails, and is left alone';
      case 'paced':
        return 'calls go out one after the other';
      default:
        return `all ${this.pool.limit(nowMs)} permits are out`;
    }
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
    const atMs = Math.min(this.pool.lookAtMs(cost, nowMs), parkAtMs);
    if (this.#timer && this.#timer.atMs <= atMs && this.#timer.atMs > nowMs) return;
    this.#disarm();
    const cancel = this.#clock.after(Math.max(1, atMs - nowMs), () => {
      this.#timer = undefined;
      const thenMs = this.nowMs;
      this.learner?.turn(thenMs, this.#waiters.size);
      this.#dispatch(thenMs);
    });
    this.#timer = { atMs, cancel };
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
