/** What a leader has published of an API, for whoever shows it. */

import { encodePublished } from '../../src/throttle/fleet/wire.ts';
import type { FleetSum, Published } from '../../src/throttle/index.ts';

const SUM: FleetSum = {
  ...{ demand: 9, inFlight: 5, waiting: 4 },
  ...{ sent: 50, ok: 48, throttled: 2, failed: 0 },
};

export function published(over: Partial<Published> = {}, sum: Partial<FleetSum> = {}): string {
  const state: Published = {
    epoch: 1,
    madeMs: 10_000,
    counted: new Set(),
    recent: [],
    growsAtMs: 10_000,
    division: { level: 6, spare: 0, isPlenty: false, arc: undefined },
    breaker: 'closed',
    learned: { cap: 6.4, good: 6.4, latencyMs: 500 },
    decision: 'trim',
    podCount: 1,
    pausedMs: 0,
    isAdaptive: true,
    ...over,
  };
  return encodePublished(state, { ...SUM, ...sum });
}
