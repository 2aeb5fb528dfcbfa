/**
 * A bucket of calls whose refill follows what the API takes: a little faster every second that was clean
 * and used up, cut to what was let in when calls are refused. Time without calls fills the bucket for a
 * bounded burst.
 */
import type { Law, LawBounds, PaceRule, Sample } from './law.ts';

const PER_SECOND_MIN = 0.05;
const GROWTH = 1.05;
const KEPT_SHARE = 0.95;
const BURST_SECONDS = 0.5;

export class TokenBucketLaw implements Law {
  readonly #bounds: LawBounds;
  #perSecond: number;
  #secondFromMs: number | undefined;
  #cutMs = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #accepted = 0;
  #wasUsedUp = false;

  constructor(bounds: LawBounds, perSecond: number = bounds.start) {
    this.#bounds = bounds;
    this.#perSecond = perSecond;
  }

  limit(): number {
    return this.#bounds.inFlightMax;
  }

  pace(): PaceRule {
    return {
      perSecond: this.#perSecond,
      depth: Math.max(1, this.#perSecond * BURST_SECONDS),
    };
  }

  ended({ kind, weight, sentMs, wasPaced }: Sample, nowMs: number): void {
    this.#secondFromMs ??= nowMs;
    if (kind === 'ok' || weight > 0) this.#sent++;
    if (kind === 'ok') this.#accepted++;
    this.#wasUsedUp ||= wasPaced;
    if (weight > 0 && sentMs > this.#cutMs) this.#cut(weight, nowMs);
    else if (nowMs - this.#secondFromMs >= 1_000) this.#turn(nowMs);
  }

  #cut(weight: number, nowMs: number): void {
    const acceptedShare = this.#sent > 0 ? this.#accepted / this.#sent : 1;
    const wanted = this.#perSecond * Math.max(0.5, acceptedShare) * KEPT_SHARE;
    this.#perSecond = Math.max(
      PER_SECOND_MIN,
      this.#perSecond - weight * (this.#perSecond - wanted),
    );
    this.#cutMs = nowMs;
    this.#restart(nowMs);
  }

  #turn(nowMs: number): void {
    const isClean = this.#sent === this.#accepted;
    if (isClean && this.#wasUsedUp) this.#perSecond *= GROWTH;
    this.#restart(nowMs);
  }

  #restart(nowMs: number): void {
    this.#secondFromMs = nowMs;
    this.#sent = 0;
    this.#accepted = 0;
    this.#wasUsedUp = false;
  }
}
