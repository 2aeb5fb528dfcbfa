/** How one process decides how many calls may be out at once. Time is an argument. */
import type { OutcomeKind } from '../answers/outcome.ts';

export const LAW_NAMES = ['hybrid', 'aimd', 'aimd-latency', 'gradient', 'token-bucket'] as const;
export type LawName = (typeof LAW_NAMES)[number];

/** One call that has ended, as a law sees it. */
export interface Sample {
  readonly kind: OutcomeKind;
  /** How much it speaks against the load: 0 to 1. */
  readonly weight: number;
  readonly sentMs: number;
  readonly latencyMs: number;
  /** Whether all permits were out when it was sent: who does not use the limit learns nothing about it. */
  readonly wasFull: boolean;
  /** Whether some call was held back by the law's own pace before it. */
  readonly wasPaced: boolean;
}

/** How fast calls may follow each other. */
export interface PaceRule {
  readonly perSecond: number;
  readonly depth: number;
}

export interface Law {
  /** Permits that may be out; below one, a single call, at the pace. */
  limit(nowMs: number): number;
  pace(nowMs: number): PaceRule | undefined;
  ended(sample: Sample, nowMs: number): void;
  /** What others have found out. */
  knowLatency?(ms: number): void;
}

export interface LawBounds {
  readonly start: number;
  readonly inFlightMax: number;
  /** Whether it may react by itself to what happens within a round trip. */
  readonly mayBrake?: boolean | undefined;
  /** Whether it finds anything out at all. */
  readonly isAdaptive?: boolean | undefined;
}

/** What a law knows of round trips: a mean that follows, over answers alone. */
export class RoundTrip {
  #ms: number | undefined;
  get ms(): number | undefined {
    return this.#ms;
  }
  record(ms: number): void {
    this.#ms = this.#ms === undefined ? ms : this.#ms + 0.1 * (ms - this.#ms);
  }
}
