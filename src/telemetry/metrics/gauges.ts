/** What a process, its pod and, where it leads, its fleet are like at the moment somebody asks. */
import type { Registry } from 'prom-client';
import type { CensusSample } from '../../fleet/index.ts';
import type { Pressure } from '../../ground/index.ts';
import type { ThrottleSnapshot } from '../../machine/index.ts';
import { whyNotReady } from '../readiness.ts';
import type { MetricName } from './catalogue.ts';
import { type Shown, showGauge } from './cells.ts';

type RuledQueue = CensusSample['queues'][number];

/** The part of a fleet's status that is told in figures; a FleetStatus is one. */
export interface Observed {
  readonly dataDir: string;
  readonly busy: number;
  readonly slots: number;
  readonly queued: number;
  readonly inMemory: number;
  readonly blocked: number;
  readonly waits: Readonly<Record<string, number>>;
  readonly stalledBy: string | undefined;
  readonly alarms: readonly string[];
  readonly pod: ObservedPod | undefined;
  readonly throttles?: readonly ThrottleSnapshot[] | undefined;
}

export interface ObservedPod {
  readonly isReady: boolean;
  readonly isLeader: boolean;
  readonly held: number;
  readonly capacity: number;
  readonly unflushed: number;
  readonly archiveLagMs: number;
  readonly fleet: readonly {
    readonly status: string;
    readonly silentMs: number;
    readonly silenceMs?: number | undefined;
  }[];
  readonly census: CensusSample | undefined;
}

export interface Look {
  readonly observed: () => Observed | undefined;
  /** How many alarms of the journal were raised while the process was not open. */
  readonly earlyAlarms: () => number;
  /** Of a process that is a pod also while it starts; undefined: its status says it once it is open. */
  readonly whyNotReady: (() => string | undefined) | undefined;
  readonly pressure: () => Pressure;
  readonly isKnown: (machine: string) => boolean;
}

const one = (value: number | undefined): Shown => (value === undefined ? [] : [{ value }]);

export function showGauges(registry: Registry, look: Look): void {
  const { observed } = look;
  const ofEngine = (name: MetricName, of: (it: Observed) => number) =>
    showGauge(name, registry, () => {
      const it = observed();
      return it ? one(of(it)) : [];
    });
  const ofPod = (name: MetricName, of: (it: ObservedPod) => number) =>
    showGauge(name, registry, () => {
      const pod = observed()?.pod;
      return pod ? one(of(pod)) : [];
    });
  showGauge('nodejs_eventloop_utilization', registry, () => one(look.pressure().loop));
  ofEngine('fleetq_slots', ({ slots }) => slots);
  ofEngine('fleetq_slots_busy', ({ busy }) => busy);
  ofEngine('fleetq_runs_queued', ({ queued }) => queued);
  ofEngine('fleetq_runs_in_memory', ({ inMemory }) => inMemory);
  ofEngine('fleetq_runs_blocked', ({ blocked }) => blocked);
  ofEngine('fleetq_journal_stalled', ({ stalledBy }) => (stalledBy === undefined ? 0 : 1));
  showGauge('fleetq_journal_alarms', registry, () =>
    one(observed()?.alarms.length ?? look.earlyAlarms()),
  );
  showGauge('fleetq_runs_waiting', registry, () =>
    Object.entries(observed()?.waits ?? {}).map(([reason, value]) => ({
      labels: { reason },
      value,
    })),
  );
  showGauge('fleetq_pod_ready', registry, () => {
    const it = observed();
    if (look.whyNotReady) return one(look.whyNotReady() === undefined ? 1 : 0);
    return it?.pod ? one(whyNotReady(it) === undefined ? 1 : 0) : [];
  });
  ofPod('fleetq_leader', ({ isLeader }) => (isLeader ? 1 : 0));
  ofPod('fleetq_runs_held', ({ held }) => held);
  ofPod('fleetq_runs_capacity', ({ capacity }) => capacity);
  ofPod('fleetq_archive_pending_events', ({ unflushed }) => unflushed);
  ofPod('fleetq_archive_lag_seconds', ({ archiveLagMs }) => archiveLagMs / 1_000);
  showFleet(registry, look);
}

/** Whoever does not lead shows none of these: what others would show is the same, or stale. */
function showFleet(registry: Registry, { observed, isKnown }: Look): void {
  const show = (name: MetricName, of: (census: CensusSample) => Shown) =>
    showGauge(name, registry, () => {
      const census = observed()?.pod?.census;
      return census ? of(census) : [];
    });
  /** Of rows that may name any machine. */
  const nameOf = (census: CensusSample, machine: string) =>
    isKnown(machine) || census.routes.some((route) => route.machine === machine)
      ? machine
      : 'other';
  show('fleetq_queue_depth', (census) => {
    const sums = new Sums(['machine', 'status']);
    for (const { machine, pending, waits, suspect } of census.routes) {
      const waiting = Object.values(waits).reduce((sum, count) => sum + count, 0);
      sums.add([machine, 'pending'], pending);
      sums.add([machine, 'waiting'], waiting);
      if (suspect > 0) sums.add([machine, 'suspect'], suspect);
    }
    for (const { machine, count } of census.claimed) {
      sums.add([nameOf(census, machine), 'claimed'], count);
    }
    return sums.shown();
  });
  show('fleetq_queue_oldest_age_seconds', ({ routes }) => {
    const oldest = new Map<string, number>();
    for (const { machine, oldestMs = 0 } of routes) {
      oldest.set(machine, Math.max(oldest.get(machine) ?? 0, oldestMs));
    }
    return [...oldest].map(([machine, ms]) => ({ labels: { machine }, value: ms / 1_000 }));
  });
  show('fleetq_tasks_waiting', ({ routes }) => {
    const sums = new Sums(['reason']);
    for (const { waits } of routes) {
      for (const [reason, count] of Object.entries(waits)) sums.add([reason], count);
    }
    return sums.shown();
  });
  show('fleetq_dead_letters', (census) => {
    const sums = new Sums(['machine']);
    for (const { machine } of census.routes) sums.add([machine], 0);
    for (const { machine, count } of census.deadLetters) {
      sums.add([nameOf(census, machine)], count);
    }
    return sums.shown();
  });
  show('fleetq_tasks_blocked', ({ blocked }) => one(blocked));
  show('fleetq_orphans', ({ orphans }) => one(orphans));
  show('fleetq_orphans_oldest_age_seconds', ({ orphansOldestMs = 0 }) =>
    one(orphansOldestMs / 1_000),
  );
  const byQueue = (name: MetricName, of: (queue: RuledQueue) => number | undefined) =>
    show(name, ({ queues }) =>
      queues.flatMap((found) => {
        const value = of(found);
        return value === undefined ? [] : [{ labels: { queue: found.queue }, value }];
      }),
    );
  byQueue('fleetq_queue_limit', ({ limit }) => limit);
  byQueue('fleetq_queue_claimed', ({ claimed }) => claimed);
  byQueue('fleetq_queue_paused', ({ isPaused }) => (isPaused ? 1 : 0));
  show('fleetq_schedule_late_seconds', ({ scheduleLateMs = 0 }) => one(scheduleLateMs / 1_000));
  show('fleetq_retention_late_seconds', ({ retentionLateMs }) => one(retentionLateMs / 1_000));
  show('fleetq_store_oldest_transaction_seconds', ({ oldestTransactionMs: ms }) =>
    one(ms === undefined ? undefined : ms / 1_000),
  );
  show('fleetq_fleet_sample_age_seconds', ({ agoMs }) => one(agoMs / 1_000));
  showGauge('fleetq_pods', registry, () => {
    const pod = observed()?.pod;
    if (!pod?.isLeader) return [];
    const counts = { up: 0, draining: 0, silent: 0, dead: 0 };
    for (const { status, silentMs, silenceMs = Number.POSITIVE_INFINITY } of pod.fleet) {
      const isLive = status === 'up' || status === 'draining';
      const word = isLive && silentMs > silenceMs ? 'silent' : status;
      if (word in counts) counts[word as keyof typeof counts]++;
    }
    return Object.entries(counts).map(([status, value]) => ({ labels: { status }, value }));
  });
}

/** Several rows may come to one set of labels. */
class Sums {
  readonly #names: readonly string[];
  readonly #sums = new Map<string, { readonly values: readonly string[]; sum: number }>();

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  add(values: readonly string[], count: number): void {
    const key = values.join('\n');
    const found = this.#sums.get(key) ?? { values, sum: 0 };
    found.sum += count;
    this.#sums.set(key, found);
  }

  shown(): Shown {
    return [...this.#sums.values()].map(({ values, sum }) => ({
      labels: Object.fromEntries(this.#names.map((name, at) => [name, values[at] ?? ''])),
      value: sum,
    }));
  }
}
