/**
 * Additive increase, multiplicative decrease, each once per round trip: one more permit after a clean
 * one, a cut after one with refusals. Refusals of calls that were sent before the last cut speak of the
 * load before it, so they do not cut again. `heedsLatency` grows no further while calls take longer than
 * they used to, and cuts a little where they take much longer.
 */
import { Latencies } from '../record/latencies.ts';
import { type Law, type LawBounds, type PaceRule, RoundTrip, type Sample } from './law.ts';

const FIRST_ROUND_MS = 1_000;
const LATENCY_CALLS = 20;
const PAUSE_RATIO = 1.25;
const CUT_RATIO = 1.45;
/**
 * The base follows upward, so that an API that has become slower for good is not throttled for ever; by so
 * little a minute that a line is not taken for that while it forms.
 */
const BASE_RISE_A_MINUTE = 1.02;

export class AimdLaw implements Law {
  readonly #bounds: LawBounds;
  readonly #heedsLatency: boolean;
  readonly #roundTrip = new RoundTrip();
  readonly #latencies = new Latencies(LATENCY_CALLS);
  #baseMs: number | undefined;
  #limit: number;
  #roundFromMs = Number.NEGATIVE_INFINITY;
  #cutMs = Number.NEGATIVE_INFINITY;
  #wasFull = false;

  constructor(bounds: LawBounds, { heedsLatency = false }: { heedsLatency?: boolean } = {}) {
    this.#bounds = bounds;
    this.#heedsLatency = heedsLatency;
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
      // The more a kind of failure speaks of load, the deeper the cut: by half for a refusal.
      if (sentMs > this.#cutMs) this.#cut(1 - weight / 2, nowMs);
      return;
    }
    if (kind !== 'ok') return;
    this.#roundTrip.record(latencyMs);
    this.#latencies.record(latencyMs);
    this.#wasFull ||= wasFull;
    if (nowMs - this.#roundFromMs < (this.#roundTrip.ms ?? FIRST_ROUND_MS)) return;
    const pressure = this.#heedsLatency ? this.#pressure(nowMs) : 'none';
    // Calls may take longer without any line: fewer than at first would not help them.
    if (pressure === 'high' && this.#limit > this.#bounds.start) this.#cut(0.9, nowMs);
    else if (pressure === 'none' && this.#wasFull && sentMs > this.#cutMs) {
      this.#limit = Math.min(this.#bounds.inFlightMax, this.#limit + 1);
    }
    this.#roundFromMs = nowMs;
    this.#wasFull = false;
  }

  #cut(factor: number, nowMs: number): void {
    this.#limit = Math.max(1, this.#limit * factor);
    this.#cutMs = nowMs;
    this.#roundFromMs = nowMs;
    this.#wasFull = false;
  }

  #pressure(nowMs: number): 'none' | 'some' | 'high' {
    const median = this.#latencies.quantile(0.5);
    if (median === undefined || this.#latencies.count < LATENCY_CALLS) return 'none';
    const rise = BASE_RISE_A_MINUTE ** ((nowMs - this.#roundFromMs) / 60_000);
    this.#baseMs = Math.min(median, (this.#baseMs ?? median) * rise);
    const ratio = median / this.#baseMs;
    return ratio > CUT_RATIO ? 'high' : ratio > PAUSE_RATIO ? 'some' : 'none';
  }
}
