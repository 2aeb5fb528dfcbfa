/** What is counted of a pod among pods: claims, settlements, heartbeats, calls of the store, recovery. */
import type { Registry } from 'prom-client';
import { type FleetqEvents, listen } from '../events.ts';
import { Counters, Histograms, showGauge } from './cells.ts';
import { Island } from './island.ts';

export interface FleetCounting {
  /** Milliseconds that never go back, by the clock that events are timed with. */
  readonly monotonicMs: () => number;
  /** Whether a machine is one that the fleet has defined; a task's row may name any. */
  readonly isKnown: (machine: string) => boolean;
}

const CLAIM_RESULTS = ['claimed', 'empty', 'contended', 'error'] as const;
const BEAT_RESULTS = ['taken', 'refused', 'failed'] as const;
const SETTLED = ['completed', 'failed', 'cancelled', 'pending', 'waiting'] as const;
const SWEPT = ['silent', 'dead', 'gone', 'left'] as const;

export function countFleet(
  registry: Registry,
  dead: Counters,
  { monotonicMs, isKnown }: FleetCounting,
): (() => void)[] {
  const nameOf = (machine: string) => (isKnown(machine) ? machine : 'other');
  const enqueued = new Counters('fleetq_runs_enqueued_total', registry);
  const errors = new Counters('fleetq_store_errors_total', registry);
  const calls = new Histograms('fleetq_store_duration_seconds', registry);
  const settled = new Counters('fleetq_tasks_settled_total', registry);
  const recovered = new Counters('fleetq_sweep_recovered_total', registry);
  for (const to of SETTLED) settled.cell(to);
  for (const reason of SWEPT) recovered.cell(reason);
  const lost = new Counters('fleetq_claims_lost_total', registry).cell();
  const archived = new Counters('fleetq_runs_archived_total', registry).cell();
  const settle = new Histograms('fleetq_settle_duration_seconds', registry).cell();
  const deaths = new Counters('fleetq_pod_deaths_total', registry).cell();
  const delayed = new Counters('fleetq_phases_delayed_total', registry).cell();
  const superseded = new Counters('fleetq_superseded_runs_total', registry).cell();
  const led = new Counters('fleetq_leader_changes_total', registry).cell();
  const detection = new Histograms('fleetq_death_detection_seconds', registry).cell();
  const failures = new Counters('fleetq_recovery_failures_total', registry).cell();
  return [
    listen('task.enqueued', ({ machine, count }) => {
      enqueued.cell(machine).value += count;
    }),
    listen('task.settled', ({ to }) => {
      settled.cell(to).value++;
    }),
    listen('settle.answered', ({ elapsedMs }) => void settle.observe(elapsedMs / 1_000)),
    listen('claim.lost', () => void lost.value++),
    listen('archive.flushed', ({ runs }) => {
      archived.value += runs;
    }),
    listen('task.refused', ({ machine }) => void dead.cell(nameOf(machine), 'refused').value++),
    listen('task.failed', ({ machine, outcome }) => {
      dead.cell(nameOf(machine), outcome).value++;
    }),
    listen('store.answered', ({ call, elapsedMs, failure }) => {
      if (failure === undefined) calls.cell(call).observe(elapsedMs / 1_000);
      else errors.cell(call, failure).value++;
    }),
    listen('pod.beat', ({ failure }) => {
      if (failure !== undefined) errors.cell('beat', failure).value++;
    }),
    listen('pod.died', () => void deaths.value++),
    listen('run.superseded', () => void superseded.value++),
    listen('pod.alone', () => void delayed.value++),
    listen('leader.changed', ({ isLeader }) => {
      if (isLeader) led.value++;
    }),
    listen('pod.fenced', ({ silentMs }) => void detection.observe(silentMs / 1_000)),
    listen('sweep.took', ({ why, runs }) => {
      recovered.cell(why).value += runs.length;
    }),
    listen('recovery.failed', () => void failures.value++),
    ...countClaims(registry),
    ...countFailovers(registry),
    ...countBeats(registry, monotonicMs),
    ...timeDrains(registry, monotonicMs),
  ];
}

function countClaims(registry: Registry): (() => void)[] {
  const claims = new Counters('fleetq_claims_total', registry);
  for (const result of CLAIM_RESULTS) claims.cell(result);
  const backoffs = new Counters('fleetq_claim_backoffs_total', registry).cell();
  const duration = new Histograms('fleetq_claim_duration_seconds', registry).cell();
  const batch = new Histograms('fleetq_claim_batch_size', registry).cell();
  return [
    listen('claim.answered', ({ got, elapsedMs }) => {
      claims.cell(got > 0 ? 'claimed' : 'empty').value++;
      duration.observe(elapsedMs / 1_000);
      if (got > 0) batch.observe(got);
    }),
    listen('store.answered', ({ call, failure }) => {
      if (call !== 'claim' || failure === undefined) return;
      claims.cell(failure === 'busy' ? 'contended' : 'error').value++;
    }),
    listen('claim.backedOff', () => void backoffs.value++),
  ];
}

/** What became of it, by the word of the pod that was told of it. */
const REWOUND = {
  enqueuesLost: 'enqueue_lost',
  outcomesLost: 'outcome_lost',
  outcomesOvertaken: 'outcome_overtaken',
  outcomesWritten: 'outcome_written',
  claimsRestored: 'claim_restored',
  recordsWritten: 'records_written',
} as const;

function countFailovers(registry: Registry): (() => void)[] {
  const failovers = new Counters('fleetq_store_failovers_total', registry).cell();
  const rewound = new Counters('fleetq_store_rewound_total', registry);
  const whats = Object.keys(REWOUND) as (keyof typeof REWOUND)[];
  for (const what of whats) rewound.cell(REWOUND[what]);
  return [
    listen('store.failedOver', () => void failovers.value++),
    listen('store.rewound', (e) => {
      for (const what of whats) rewound.cell(REWOUND[what]).value += e[what];
    }),
  ];
}

function countBeats(registry: Registry, monotonicMs: () => number): (() => void)[] {
  const beats = new Counters('fleetq_heartbeats_total', registry);
  for (const result of BEAT_RESULTS) beats.cell(result);
  const island = new Island();
  // Time goes on while nobody answers: whoever asks finds out how much has.
  const alone = new Counters('fleetq_island_seconds_total', registry, () => {
    alone.cell().value = island.secondsAt(monotonicMs());
  });
  showGauge('fleetq_alone_seconds', registry, () => [
    { value: island.aloneMsAt(monotonicMs()) / 1_000 },
  ]);
  showGauge('fleetq_heartbeat_lag_seconds', registry, () => {
    const lagMs = island.lagMsAt(monotonicMs());
    return lagMs === undefined ? [] : [{ value: lagMs / 1_000 }];
  });
  return [
    listen('pod.beat', (e: FleetqEvents['pod.beat']) => {
      beats.cell(e.result).value++;
      island.hear(e);
    }),
    listen('store.failed', ({ what }) => {
      if (what === 'join' || what === 'register') island.miss(monotonicMs());
    }),
    listen('engine.drained', () => island.leave(monotonicMs())),
  ];
}

function timeDrains(registry: Registry, monotonicMs: () => number): (() => void)[] {
  let sinceMs: number | undefined;
  const seconds = new Histograms('fleetq_drain_seconds', registry).cell();
  const begin = () => {
    sinceMs ??= monotonicMs();
  };
  showGauge('fleetq_draining', registry, () => [{ value: sinceMs === undefined ? 0 : 1 }]);
  showGauge('fleetq_draining_seconds', registry, () => [
    { value: sinceMs === undefined ? 0 : (monotonicMs() - sinceMs) / 1_000 },
  ]);
  return [
    listen('pod.draining', begin),
    listen('engine.draining', begin),
    listen('engine.drained', () => {
      if (sinceMs !== undefined) seconds.observe((monotonicMs() - sinceMs) / 1_000);
      sinceMs = undefined;
    }),
  ];
}
