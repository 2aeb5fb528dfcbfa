/**
 * The default. How many permits there are is found out by an estimate over seconds, by this process for
 * itself or by one pod for all; what happens within a round trip is braked here at once. The brake lets
 * go by itself, and at once when a new grant already accounts for what it braked for.
 */
import { type Law, type PaceRule, RoundTrip, type Sample } from './law.ts';

const RELEASE_MS = 12_000;
const BRAKE_MIN = 0.02;
const PACE_MARGIN = 1.25;
const PACED_MS_MIN = 20;

export class HybridLaw implements Law {
  readonly #roundTrip = new RoundTrip();
  /** No brake takes more than leaves this: one call, or a pod's part of the one that the fleet has left. */
  least = 1;
  #grant: number;
  #brake = 1;
  #brakedMs = Number.NEGATIVE_INFINITY;
  readonly #mayBrake: boolean;
  readonly #mayPace: boolean;
  #ok = 0;
  #against = 0;

  /** Without a brake and a pace it does what it is granted, and no more. */
  constructor(grant: number, { mayBrake = true, mayPace = true } = {}) {
    this.#grant = grant;
    this.#mayBrake = mayBrake;
    this.#mayPace = mayPace;
  }

  get grant(): number {
    return this.#grant;
  }

  /** Whoever knows the latency from before need not find it out. */
  knowLatency(ms: number): void {
    if (this.#roundTrip.ms === undefined) this.#roundTrip.record(ms);
  }

  setGrant(grant: number, nowMs: number): void {
    const isLower = grant < this.#grant;
    this.#grant = grant;
    if (isLower && this.brake(nowMs) < 0.9) {
      this.#brake = 0.9;
      this.#brakedMs = nowMs;
    }
  }

  /** 1 where nothing brakes. */
  brake(nowMs: number): number {
    const released = Math.max(0, nowMs - this.#brakedMs) / RELEASE_MS;
    return Math.min(1, this.#brake + released);
  }

  limit(nowMs: number): number {
    return Math.max(Math.min(this.least, this.#grant), this.#grant * this.brake(nowMs));
  }

  pace(nowMs: number): PaceRule | undefined {
    const latencyMs = this.#roundTrip.ms;
    const limit = this.limit(nowMs);
    // Below one permit the pace is all there is to hold on to; where nothing is known, a second is a guess.
    if (limit < 1) {
      return { perSecond: (limit / Math.max(1, latencyMs ?? 1_000)) * 1_000, depth: 1 };
    }
    // Calls that end as soon as they have begun pace each other.
    if (!this.#mayPace || latencyMs === undefined || latencyMs < PACED_MS_MIN) return undefined;
    const perSecond = (PACE_MARGIN * limit * 1_000) / latencyMs;
    return {
      perSecond,
      depth: this.brake(nowMs) < 1 ? Math.max(1, perSecond / 20) : Math.max(3, perSecond / 2),
    };
  }

  ended({ kind, weight, sentMs, latencyMs }: Sample, nowMs: number): void {
    if (kind === 'ok') {
      this.#ok++;
      this.#roundTrip.record(latencyMs);
    }
    if (weight === 0 || !this.#mayBrake) return;
    this.#against += weight;
    const roundMs = this.#roundTrip.ms ?? 1_000;
    if (sentMs <= this.#brakedMs || nowMs - this.#brakedMs < roundMs / 2) return;
    const share = this.#against / (this.#ok + this.#against);
    const factor = Math.max(0.5, 1 - (1.5 * share + 0.02) * weight);
    this.#brake = Math.max(BRAKE_MIN, this.brake(nowMs) * factor);
    this.#brakedMs = nowMs;
    this.#ok = 0;
    this.#against = 0;
  }
}
