/** How an estimate is to be made, and what it may decide. */
export interface EstimatorRule {
  /** Else the most that is allowed is the limit, and stays it. */
  readonly isAdaptive: boolean;
  /** Permits to begin with, where nothing is known. */
  readonly start: number;
  /** Never more permits than this. */
  readonly inFlightMax: number;
  /** Never more calls a second than this, if there is such a limit. */
  readonly perSecondMax?: number | undefined;
  /** Refused calls use up the quota as well: begin carefully. */
  readonly chargesRefusals: boolean;
  /** Whether growing latency means that calls queue up there. */
  readonly heedsLatency: boolean;
}

export type Decision = 'hold' | 'first' | 'cut' | 'trim' | 'latency' | 'probe' | 'bisect' | 'hint';
