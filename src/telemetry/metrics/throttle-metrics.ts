/**
 * How the APIs are that this process calls. Whoever calls names them, and nobody knows how many names that
 * will be: the first hundred are labels, and all that come later are one.
 */
import type { Registry } from 'prom-client';
import type { CallOutcomeKind, ThrottleSnapshot } from '../../machine/index.ts';
import { listen } from '../events.ts';
import type { MetricName } from './catalogue.ts';
import { type CounterCell, Counters, Histograms, type Shown, showGauge } from './cells.ts';

const APIS_MAX = 100;
const OTHER = 'other';

/** Which APIs are told by name: once one is, it stays so. */
class ApiNames {
  readonly #names = new Set<string>();

  of(api: string): string {
    if (this.#names.has(api)) return api;
    if (this.#names.size >= APIS_MAX) return OTHER;
    this.#names.add(api);
    return api;
  }
}

interface Look {
  readonly throttles: () => readonly ThrottleSnapshot[];
  readonly isLeader: () => boolean;
}

/** Shows and counts them; answers how to stop. */
export function countThrottles(registry: Registry, { throttles, isLeader }: Look): () => void {
  const names = new ApiNames();
  const sums = (name: MetricName, of: (it: ThrottleSnapshot) => number | undefined) =>
    showGauge(name, registry, () => summed(throttles(), names, of));
  sums('fleetq_throttle_limit', ({ limit }) => limit);
  sums('fleetq_throttle_in_flight', ({ inFlight }) => inFlight);
  sums('fleetq_throttle_cooling', ({ cooling }) => cooling);
  sums('fleetq_throttle_waiting', ({ waiting }) => waiting);
  sums('fleetq_throttle_open', ({ breaker }) => (breaker === 'closed' ? 0 : 1));
  sums('fleetq_throttle_fleet_limit', ({ fleet }) => (isLeader() ? fleet?.cap : undefined));
  // Of several APIs there is no sum of these that means anything.
  const each = (name: MetricName, of: (it: ThrottleSnapshot) => Shown) =>
    showGauge(name, registry, () =>
      throttles()
        .filter(({ api }) => names.of(api) !== OTHER)
        .flatMap(of),
    );
  each('fleetq_throttle_paused_seconds', ({ api, pausedMs }) => [
    { labels: { api }, value: pausedMs / 1_000 },
  ]);
  each('fleetq_throttle_latency_seconds', ({ api, latencyMs }) =>
    Object.entries({ '0.5': latencyMs.p50, '0.95': latencyMs.p95 }).flatMap(([quantile, ms]) =>
      ms === undefined ? [] : [{ labels: { api, quantile }, value: ms / 1_000 }],
    ),
  );
  countCalls(registry, throttles, names);
  const waits = new Histograms('fleetq_throttle_wait_seconds', registry);
  return listen('throttle.waited', ({ api, elapsedMs }) => {
    waits.cell(names.of(api)).observe(elapsedMs / 1_000);
  });
}

function countCalls(registry: Registry, throttles: Look['throttles'], names: ApiNames): void {
  const seen = new Map<CounterCell, number>();
  const counters: Counters = new Counters('fleetq_throttle_calls_total', registry, () => {
    const sums = new Map<CounterCell, number>([...seen.keys()].map((cell) => [cell, 0]));
    for (const { api, ended } of throttles()) {
      for (const [outcome, count] of Object.entries(ended) as [CallOutcomeKind, number][]) {
        const cell = counters.cell(names.of(api), outcome);
        sums.set(cell, (sums.get(cell) ?? 0) + count);
      }
    }
    // An API may have been forgotten since: a sum that falls would be taken for one that began anew.
    for (const [cell, sum] of sums) {
      cell.value += Math.max(0, sum - (seen.get(cell) ?? 0));
      seen.set(cell, sum);
    }
  });
}

function summed(
  throttles: readonly ThrottleSnapshot[],
  names: ApiNames,
  of: (it: ThrottleSnapshot) => number | undefined,
): Shown {
  const sums = new Map<string, number>();
  for (const throttle of throttles) {
    const value = of(throttle);
    if (value === undefined) continue;
    const api = names.of(throttle.api);
    sums.set(api, (sums.get(api) ?? 0) + value);
  }
  return [...sums].map(([api, value]) => ({ labels: { api }, value }));
}
