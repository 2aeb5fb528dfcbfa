/**
 * What others do, from their published formulas, with their defaults: each pod for itself. Only where a
 * default would be absurd for the simulated API (a floor of 20 calls for each of 64 pods) is it 1.
 */
import type { Ended, Limiter } from './limiter.ts';

interface Leave {
  readonly sentAt: number;
}

abstract class InFlightLimiter implements Limiter {
  protected limit: number;
  protected inFlight = 0;
  constructor(limit: number) {
    this.limit = limit;
  }
  take(now: number): Leave | undefined {
    if (this.inFlight >= Math.floor(this.limit)) return undefined;
    this.inFlight++;
    return { sentAt: now };
  }
  end(leave: object, kind: Ended, now: number): void {
    const wasInFlight = this.inFlight;
    this.inFlight--;
    this.learn(kind, now - (leave as Leave).sentAt, wasInFlight, now);
  }
  lookAt(): number {
    return Number.POSITIVE_INFINITY;
  }
  protected abstract learn(kind: Ended, latencyMs: number, inFlight: number, now: number): void;
}

/** The seed's: one more after each success, half after each refusal. */
export class SeedAimd extends InFlightLimiter {
  constructor() {
    super(8);
  }
  protected learn(kind: Ended): void {
    if (kind === 'ok') this.limit = Math.min(200, this.limit + 1);
    else this.limit = Math.max(1, Math.floor(this.limit / 2));
  }
}

/** Vector's adaptive request concurrency: once per mean round trip, by refusals and by latency. */
export class VectorArc extends InFlightLimiter {
  #meanMs: number | undefined;
  #variance = 0;
  #sumMs = 0;
  #count = 0;
  #isPressed = false;
  #wasReached = false;
  #nextAt = 0;
  constructor() {
    super(1);
  }
  protected learn(kind: Ended, latencyMs: number, inFlight: number, now: number): void {
    if (kind === 'ok') {
      this.#sumMs += latencyMs;
      this.#count++;
    } else this.#isPressed = true;
    if (inFlight >= this.limit) this.#wasReached = true;
    if (now < this.#nextAt || (this.#count === 0 && !this.#isPressed)) return;
    const nowMs = this.#count > 0 ? this.#sumMs / this.#count : undefined;
    const { mean, deviation } = { mean: this.#meanMs, deviation: Math.sqrt(this.#variance) };
    if (nowMs !== undefined && mean === undefined) this.#meanMs = nowMs;
    const isSlow = nowMs !== undefined && mean !== undefined && nowMs >= mean + 2.5 * deviation;
    const isFast = nowMs !== undefined && (mean === undefined || nowMs <= mean);
    if (this.#isPressed || (isSlow && deviation > 0)) {
      this.limit = Math.max(1, Math.floor(this.limit * 0.9));
    } else if (this.#wasReached && isFast) this.limit = Math.min(200, this.limit + 1);
    if (nowMs !== undefined && this.#meanMs !== undefined) {
      const off = nowMs - this.#meanMs;
      this.#meanMs += 0.4 * off;
      this.#variance = 0.6 * (this.#variance + 0.4 * off * off);
    }
    this.#nextAt = now + (this.#meanMs ?? 1_000);
    this.#sumMs = 0;
    this.#count = 0;
    this.#isPressed = false;
    this.#wasReached = false;
  }
}

/** Netflix's Gradient2 in windows of a second; it is told of refusals, and does not use that. */
export class Gradient2 extends InFlightLimiter {
  #longMs = 0;
  #warmMs = 0;
  #warmCount = 0;
  #sumMs = 0;
  #count = 0;
  #inFlightMax = 0;
  #nextAt = 0;
  constructor() {
    super(20);
  }
  protected learn(_kind: Ended, latencyMs: number, inFlight: number, now: number): void {
    this.#sumMs += latencyMs;
    this.#count++;
    this.#inFlightMax = Math.max(this.#inFlightMax, inFlight);
    if (now < this.#nextAt || this.#count < 10) return;
    const shortMs = this.#sumMs / this.#count;
    const longMs = this.#longMean(shortMs);
    if (longMs / shortMs > 2) this.#longMs *= 0.95;
    if (this.#inFlightMax >= this.limit / 2) {
      const gradient = Math.max(0.5, Math.min(1, (1.5 * longMs) / shortMs));
      const wanted = this.limit * gradient + 4;
      this.limit = Math.max(1, Math.min(200, 0.8 * this.limit + 0.2 * wanted));
    }
    this.#sumMs = 0;
    this.#count = 0;
    this.#inFlightMax = 0;
    this.#nextAt = now + 1_000;
  }

  /** The plain mean of the first ten, from then on one that forgets slowly. */
  #longMean(shortMs: number): number {
    if (this.#warmCount < 10) {
      this.#warmCount++;
      this.#warmMs += shortMs;
      this.#longMs = this.#warmMs / this.#warmCount;
    } else this.#longMs += (2 / 601) * (shortMs - this.#longMs);
    return this.#longMs;
  }
}

/** The adaptive mode of AWS's SDKs: a rate that follows CUBIC, not in force until the first refusal. */
export class AwsCubic implements Limiter {
  #isOn = false;
  #tokens = 0;
  #tokensAt = 0;
  #perSecond = 0.5;
  #bucketMax = 1;
  #sent = 0;
  #sentRate = 0;
  #bucketAt = 0;
  #maxRate = 0;
  #throttledAt = 0;
  #windowS = 0;

  take(now: number): Leave | undefined {
    if (this.#isOn) {
      this.#refill(now);
      if (this.#tokens < 1) return undefined;
      this.#tokens--;
    }
    return { sentAt: now };
  }

  end(_leave: object, kind: Ended, now: number): void {
    this.#measure(now);
    let rate: number;
    if (kind === 'throttled') {
      const base = this.#isOn ? Math.min(this.#sentRate, this.#perSecond) : this.#sentRate;
      this.#maxRate = base;
      this.#windowS = Math.cbrt((this.#maxRate * 0.3) / 0.4);
      this.#throttledAt = now;
      rate = base * 0.7;
      this.#isOn = true;
    } else {
      const elapsedS = (now - this.#throttledAt) / 1_000 - this.#windowS;
      rate = 0.4 * elapsedS ** 3 + this.#maxRate;
    }
    if (!this.#isOn) return;
    this.#refill(now);
    this.#perSecond = Math.max(0.5, Math.min(rate, 2 * this.#sentRate));
    this.#bucketMax = Math.max(1, this.#perSecond);
    this.#tokens = Math.min(this.#tokens, this.#bucketMax);
  }

  lookAt(now: number): number {
    return this.#isOn
      ? now + (Math.max(0.001, 1 - this.#tokens) / this.#perSecond) * 1_000
      : now + 50;
  }

  #measure(now: number): void {
    const bucket = Math.floor((now / 1_000) * 2) / 2;
    this.#sent++;
    if (bucket <= this.#bucketAt) return;
    const rate = this.#sent / (bucket - this.#bucketAt);
    this.#sentRate = 0.8 * rate + 0.2 * this.#sentRate;
    this.#sent = 0;
    this.#bucketAt = bucket;
  }

  #refill(now: number): void {
    const gained = ((now - this.#tokensAt) / 1_000) * this.#perSecond;
    this.#tokens = Math.min(this.#bucketMax, this.#tokens + gained);
    this.#tokensAt = now;
  }
}

export const BASELINES = {
  seedAimd: () => new SeedAimd(),
  vectorArc: () => new VectorArc(),
  netflixGradient2: () => new Gradient2(),
  awsCubic: () => new AwsCubic(),
} as const;
export type BaselineName = keyof typeof BASELINES;
