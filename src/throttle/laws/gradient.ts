/**
 * The limit follows how latency now compares with latency over a long time: as many more calls as the
 * API answers at its usual pace. Refusals cut, once per round trip; a limit by latency alone would not
 * see them, since they come fast.
 */
import { type Law, type LawBounds, type PaceRule, RoundTrip, type Sample } from './law.ts';

const WINDOW_MS_MIN = 500;
const TOLERANCE = 1.5;
const SMOOTHING = 0.2;
const LONG_WEIGHT = 2 / 601;
/** A long mean that is this far off was taken in other times, and is let go faster. */
const DRIFT_RATIO = 2;

export class GradientLaw implements Law {
  readonly #bounds: LawBounds;
  readonly #roundTrip = new RoundTrip();
  #limit: number;
  #longMs: number | undefined;
  #sumMs = 0;
  #count = 0;
  #wasFull = false;
  #windowFromMs: number | undefined;
  #cutMs = Number.NEGATIVE_INFINITY;

  constructor(bounds: LawBounds) {
    this.#bounds = bounds;
    this.#limit = bounds.start;
  }

  limit(): number {
    return this.#limit;
  }

  pace(): PaceRule | undefined {
    return undefined;
  }

  ended({ kind, weight, sentMs, latencyMs, wasFull }: Sample, nowMs: number): void {
    if (weight > 0) {
      if (sentMs <= this.#cutMs) return;
      this.#limit = Math.max(1, this.#limit * (1 - 0.3 * weight));
      this.#cutMs = nowMs;
      this.#wasFull = false;
      return;
    }
    if (kind !== 'ok') return;
    this.#roundTrip.record(latencyMs);
    this.#sumMs += latencyMs;
    this.#count++;
    this.#wasFull ||= wasFull;
    this.#windowFromMs ??= nowMs;
    const windowMs = Math.max(WINDOW_MS_MIN, this.#roundTrip.ms ?? 0);
    if (nowMs - this.#windowFromMs >= windowMs) this.#turn(nowMs);
  }

  #turn(nowMs: number): void {
    const shortMs = this.#sumMs / this.#count;
    const longMs = this.#longMs ?? shortMs;
    const drifted = longMs / shortMs > DRIFT_RATIO ? longMs * 0.95 : longMs;
    this.#longMs = drifted + LONG_WEIGHT * (shortMs - drifted);
    if (this.#wasFull) {
      const gradient = Math.min(1, Math.max(0.5, (TOLERANCE * this.#longMs) / shortMs));
      const room = Math.sqrt(this.#limit);
      const wanted = this.#limit * gradient + room;
      const next = (1 - SMOOTHING) * this.#limit + SMOOTHING * wanted;
      this.#limit = Math.max(1, Math.min(this.#bounds.inFlightMax, next));
    }
    this.#sumMs = 0;
    this.#count = 0;
    this.#wasFull = false;
    this.#windowFromMs = nowMs;
  }
}
