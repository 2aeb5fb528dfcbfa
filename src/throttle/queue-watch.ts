/**
 * Whether calls wait in line on the other side, which only their latency tells. By the median, since tails
 * are noise; against the least median of the last minute and a half, since nobody says what is normal.
 */
import { Latencies, type LatencyCounts } from './latencies.ts';

const CALLS_MIN = 90;
const BASE_KEPT_MS = 90_000;
const BASE_KEPT_MS_MAX = 600_000;
const RATE_KEPT_MS = 20_000;
const PAUSE_RATIO = 1.18;
const CUT_RATIO = 1.45;
/** A little more than what the API works on at a time keeps it at work. */
const FULL_MARGIN = 1.15;

interface Past {
  readonly atMs: number;
  readonly value: number;
}

export class QueueWatch {
  readonly #latencies = new Latencies(CALLS_MIN);
  #medians: Past[] = [];
  #rates: Past[] = [];

  noteLatencies(latencies: LatencyCounts, nowMs: number): void {
    this.#latencies.recordCounts(latencies);
    if (this.#latencies.count < CALLS_MIN) return;
    // While calls take longer than they did, that must not become what is normal just by lasting.
    const keptMs = this.pressure === 'pause' ? BASE_KEPT_MS_MAX : BASE_KEPT_MS;
    this.#medians = kept(this.#medians, nowMs - keptMs);
    this.#medians.push({ atMs: nowMs, value: this.#latencies.quantile(0.5)! });
  }

  /** What came back since the last time, and not what was sent: a line that forms takes in more. */
  noteAnswers(answers: number, tickMs: number, nowMs: number): void {
    this.#rates = kept(this.#rates, nowMs - RATE_KEPT_MS);
    this.#rates.push({ atMs: nowMs, value: (answers * 1_000) / tickMs });
  }

  /** `pause`: no more than now. `cut`: less. */
  get pressure(): 'none' | 'pause' | 'cut' {
    if (this.#latencies.count < CALLS_MIN || this.#medians.length === 0) return 'none';
    const ratio = this.#latencies.quantile(0.5)! / this.#base;
    return ratio > CUT_RATIO ? 'cut' : ratio > PAUSE_RATIO ? 'pause' : 'none';
  }

  /** What it can work on at a time: as many as it answered at its best, for as long as one takes. */
  get room(): number {
    const rate = Math.max(0, ...this.#rates.map(({ value }) => value));
    return (FULL_MARGIN * rate * this.#base) / 1_000;
  }

  /** What was measured with a line in front says nothing any more. */
  forgetLatencies(): void {
    this.#latencies.forget();
  }

  get #base(): number {
    return Math.min(...this.#medians.map(({ value }) => value));
  }
}

function kept(past: Past[], sinceMs: number): Past[] {
  return past.filter(({ atMs }) => atMs >= sinceMs);
}
