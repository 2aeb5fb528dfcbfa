/**
 * One API in one process: who may call now, who waits, and what is learned from how calls end. All that
 * decides is in the pool and its law; here are the promises and the timer.
 */
import type { Cancel, Clock, Random } from '../ground/index.ts';
import { Judge } from './answers/judge.ts';
import type { CallOutcome } from './answers/outcome.ts';
import type { AcquireOptions } from './caller.ts';
import {
  PermitAbortedError,
  ThrottleDrainingError,
  ThrottleFullError,
  type ThrottleParkedError,
} from './errors.ts';
import { Learner } from './estimate/learner.ts';
import type { FirstShare } from './fleet/first-share.ts';
import { Lease } from './fleet/lease.ts';
import type { Published } from './fleet/words.ts';
import { HybridLaw, LAWS, type Law } from './laws/index.ts';
import { onceAborted } from './permits/aborts.ts';
import { Parking } from './permits/parking.ts';
import { type Permit, PermitPool } from './permits/permit-pool.ts';
import { spreadMs } from './permits/spread.ts';
import {
  isOneOfMany,
  maySave,
  type Patient,
  SAVES_MS_MAX,
  staysUntilMs,
} from './permits/staying.ts';
import { isAged, Waiters } from './permits/waiters.ts';
import { isHeldBack, leftOf, whyNone } from './permits/wanting.ts';
import type { Priority, ThrottlePolicy } from './policy.ts';

/** How often what was seen is looked at: as pods do with their heartbeats. */
const TICK_MS = 3_000;
const NOTHING = {};
const PHASE_OVER = 'the phase is over';

interface Waiting extends Patient {
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
  /** Machines whose runs have had to wait here, and when they last had to. */
  readonly routes = new Map<string, number>();
  /** When somebody last had to wait. */
  waitedMs = Number.NEGATIVE_INFINITY;
  /** When it was last called, or heard of. */
  usedMs: number;
  readonly #law: Law;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Whether the fleet has one limit for it. */
  readonly isShared: boolean;
  readonly #waiters = new Waiters<Waiting>();
  readonly parking: Parking;
  readonly judge: Judge;
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
    this.usedMs = this.nowMs;
    const isShared = policy.scope !== 'local' && ports.isInFleet === true;
    // Before the fleet was heard of, one call at a time is all that can be said to be safe.
    const whole = policy.isAdaptive ? policy.start : policy.inFlightMax;
    const law = LAWS[policy.law]({ ...policy, start: isShared ? 1 : whole });
    [this.#law, this.isShared] = [law, isShared];
    this.pool = new PermitPool(policy, law);
    this.parking = new Parking(policy, this.pool, ports.random);
    this.judge = new Judge(policy, ports.clock, ports.random);
    if (isShared) this.pool.declared.divide(1 / policy.start, this.nowMs);
    if (!policy.isAdaptive || isShared || !(law instanceof HybridLaw)) return;
    this.learner = new Learner(policy, law, this.pool, TICK_MS);
  }

  /** From now on its limit is the share of the pod `key`. */
  lend(key: string, beatMs: number): void {
    if (this.isShared) this.lease = new Lease(key, this.#law as HybridLaw, this.pool, beatMs);
  }

  /** What this pod may have before it is counted; pods that begin with a part are spread. */
  begin(first: FirstShare, nowMs: number): void {
    this.lease?.begin(first, nowMs, this.#random.fraction());
    if (this.#waiters.size > 0) this.#dispatch(nowMs);
  }

  /** What the leader has said of it. */
  heed(
    published: Published,
    at: { readonly nowMs: number; readonly sentMs: number; readonly chance: number },
  ): void {
    const { nowMs, sentMs, chance } = at;
    this.published = published;
    this.usedMs = nowMs;
    this.pool.boundRates(published, nowMs);
    this.lease?.heed(published, nowMs, chance, sentMs);
    // Spread afterwards: all are told the same.
    const untilMs = published.madeMs + published.pausedMs;
    const isNews = untilMs > nowMs && untilMs > this.pool.pausedUntilMs;
    if (isNews) this.pool.pauseUntil(nowMs + spreadMs(untilMs - nowMs, chance / 2));
    if (this.#waiters.size > 0) this.#dispatch(nowMs);
  }

  #turn(nowMs: number): void {
    this.learner?.turn(nowMs, this.#waiters.size);
    this.lease?.turn(nowMs);
    this.pool.boundRates(this.published ?? NOTHING, nowMs);
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  get nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** A permit if there is one now, and nobody waits who comes before. */
  tryAcquire({ priority, cost, sinceMs }: AcquireOptions): Permit | undefined {
    const nowMs = this.nowMs;
    this.usedMs = nowMs;
    this.#turn(nowMs);
    if (this.#waiters.size > 0) {
      this.#dispatch(nowMs);
      if (!this.#isNext(priority, sinceMs ?? nowMs, nowMs)) return undefined;
    }
    return this.pool.take(priority, cost, nowMs);
  }

  /** What is kept for a class is there for it, whoever else waits. */
  #isNext(priority: Priority, sinceMs: number, nowMs: number): boolean {
    if (this.#waiters.size === 0) return true;
    if (isHeldBack(this.pool, priority, nowMs)) return false;
    return this.#waiters.isFirst(priority, sinceMs, nowMs, this.pool.closed === 'paced');
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

  /** How many more may come for a permit. */
  left(nowMs: number): number {
    const [inPlace, away] = [this.parking.inPlace(nowMs), this.parking.away(nowMs)];
    const { parkAfterMs } = this.policy;
    return leftOf(this.pool, { waiting: this.#waiters.size, inPlace, away, parkAfterMs }, nowMs);
  }

  /** Nobody waits here any more; what can be had at once may still be. */
  drain(): void {
    this.#isDraining = true;
    const error = new ThrottleDrainingError(this.policy.name);
    for (const waiter of this.#waiters.takeAll()) waiter.refuse(error);
    this.#disarm();
  }

  #wait(options: AcquireOptions): Promise<Permit> {
    const { priority, cost, signal, route, sinceMs, leaves, isCalling } = options;
    const { name, waitingMax, parkAfterMs } = this.policy;
    const nowMs = this.nowMs;
    this.waitedMs = nowMs;
    if (route !== undefined) this.routes.set(route, nowMs);
    if (this.#isDraining) throw new ThrottleDrainingError(name);
    if (this.#waiters.size >= waitingMax) {
      throw new ThrottleFullError(name, waitingMax, this.parking.delayMs(waitingMax, nowMs));
    }
    this.#parkIfLong(cost, sinceMs ?? nowMs, nowMs);
    return new Promise((resolve, reject) => {
      const leave = () => {
        done();
        reject(new PermitAbortedError(name, signal?.aborted ? signal.reason : PHASE_OVER));
        // It may have been the one that the others waited behind.
        if (this.#waiters.delete(waiter)) this.#dispatch(this.nowMs);
      };
      const waiter: Waiting = {
        priority,
        cost,
        sinceMs: sinceMs ?? nowMs,
        cameMs: nowMs,
        parkAtMs: nowMs + parkAfterMs,
        isCalling,
        give: (permit) => {
          done();
          resolve(permit);
        },
        refuse: (error) => {
          done();
          reject(error);
        },
      };
      const forget = signal ? onceAborted(signal, leave) : undefined;
      leaves?.add(leave);
      const done = () => {
        forget?.();
        leaves?.delete(leave);
      };
      this.#waiters.add(waiter);
      this.#arm(cost, nowMs);
    });
  }

  /** Where it is known that nothing begins for long, nobody need wait to find out. */
  #parkIfLong(cost: number, sinceMs: number, nowMs: number): void {
    const { closed } = this.pool;
    if (closed === 'full' || closed === 'none') return;
    // What a pod has before it is counted says nothing of what it has in a moment.
    if (closed === 'paced' && this.lease && !this.lease.isInForce) return;
    const waitMs = this.pool.lookAtMs(cost, nowMs) - nowMs;
    if (waitMs <= this.policy.parkAfterMs) return;
    // While it stands in line, what it costs is saved up; those who were called meanwhile would spend it.
    if (closed === 'paced' && waitMs <= SAVES_MS_MAX && isAged(sinceMs, nowMs)) return;
    const why = whyNone(this.pool, this.published, nowMs);
    if (closed === 'paced') throw this.parking.paced(why, waitMs, nowMs);
    throw this.parking.shut(why, this.#waiters.size, waitMs, nowMs);
  }

  #dispatch(nowMs: number): void {
    const heldBack = (priority: Priority) => isHeldBack(this.pool, priority, nowMs);
    let below: Priority | undefined;
    for (;;) {
      const next = this.#waiters.next(nowMs, heldBack, below);
      if (!next) break;
      const permit = this.pool.take(next.priority, next.cost, nowMs);
      if (permit) {
        this.#waiters.take(next);
        next.give(permit);
      } else if (this.pool.closed === 'full') {
        // What is kept for higher classes is not for it, though it has waited longest.
        below = next.priority;
      } else {
        if (this.pool.closed === 'paced' && maySave(next, nowMs)) {
          this.#waiters.stay(next, staysUntilMs(this.policy, nowMs));
        }
        break;
      }
    }
    const stayUntilMs = (waiter: Waiting) =>
      isOneOfMany(waiter, this.pool, nowMs) ? staysUntilMs(this.policy, nowMs) : nowMs;
    for (const { refuse, cameMs } of this.#waiters.takeLate(nowMs, stayUntilMs)) {
      refuse(this.tooLate(cameMs));
    }
    const head = this.#waiters.next(nowMs, heldBack);
    if (head) this.#arm(head.cost, nowMs);
    else this.#disarm();
  }

  /** It has waited since then, and comes back. */
  tooLate(cameMs: number): ThrottleParkedError {
    const { nowMs } = this;
    const why = whyNone(this.pool, this.published, nowMs);
    return this.parking.late(why, this.#waiters.size, nowMs - cameMs, nowMs);
  }

  #arm(cost: number, nowMs: number): void {
    const growsMs = this.lease?.dueMs ?? Number.POSITIVE_INFINITY;
    const atMs = Math.min(this.pool.lookAtMs(cost, nowMs), this.#waiters.parkAtMs, growsMs);
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
