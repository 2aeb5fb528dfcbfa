/**
 * Feeds an estimate from one process's own calls, and its hybrid law from the estimate: what a fleet of
 * one does. Asked with every call, and does something only once in a while.
 */

import type { HybridLaw } from '../laws/index.ts';
import type { PermitPool } from '../permits/permit-pool.ts';
import type { ThrottlePolicy } from '../policy.ts';
import { RipeSeconds } from '../record/ripe-seconds.ts';
import { Estimator } from './estimator.ts';
import type { Decision } from './estimator-rule.ts';
import type { Learned } from './learned.ts';

/** Refusals take a moment to come back: a second is looked at when they have. */
const ANSWER_MS = 300;

export class Learner {
  readonly #estimator: Estimator;
  readonly #law: HybridLaw;
  readonly #pool: PermitPool;
  readonly #tickMs: number;
  #tickedMs: number | undefined;
  #seenUntil = 0;
  readonly #ripe = new RipeSeconds();
  #wasOpen = false;
  decision: Decision = 'hold';

  constructor(
    policy: ThrottlePolicy,
    law: HybridLaw,
    pool: PermitPool,
    tickMs: number,
    learned?: Learned | undefined,
  ) {
    this.#estimator = new Estimator(policy, learned);
    this.#law = law;
    this.#pool = pool;
    this.#tickMs = tickMs;
    if (learned?.latencyMs !== undefined) law.knowLatency(learned.latencyMs);
  }

  get learned(): Learned {
    return this.#estimator.learned;
  }

  turn(nowMs: number, waiting: number): void {
    this.#tickedMs ??= nowMs;
    if (nowMs - this.#tickedMs < this.#tickMs) return;
    this.#tickedMs = nowMs;
    const until = Math.floor((nowMs - ANSWER_MS) / 1_000);
    const late = this.#pool.late.take(this.#seenUntil);
    const seconds = this.#ripe.take(
      this.#pool.seconds.between(this.#seenUntil, until),
      late,
      until,
    );
    this.#seenUntil = until;
    const tempo = { tickMs: this.#tickMs, delayMs: 0 };
    const { inFlight, pausedUntilMs } = this.#pool;
    const untilMs = this.#ripe.until * 1_000;
    const tally = this.#pool.tally.take();
    const told = { ...this.#pool.told(nowMs), pausedUntilMs };
    const sight = { ...tally, seconds, untilMs, inFlight, waiting, ...told };
    this.decision = this.#estimator.tick(sight, nowMs, tempo);
    const isOpen = this.#pool.breakerState(nowMs) !== 'closed';
    if (isOpen && !this.#wasOpen) this.decision = this.#estimator.ill(nowMs);
    this.#wasOpen = isOpen;
    if (this.#estimator.cap !== this.#law.grant) this.#law.setGrant(this.#estimator.cap, nowMs);
  }
}
