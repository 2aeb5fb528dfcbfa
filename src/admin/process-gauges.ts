/** What a process and its pod are like at the moment somebody asks. */
import type { Pressure } from '../ground/index.ts';
import type { Gauges } from './metrics.ts';

/** The part of a fleet's status that is told in figures; a FleetStatus is one. */
export interface Observed {
  readonly busy: number;
  readonly slots: number;
  readonly queued: number;
  readonly inMemory: number;
  readonly blocked: number;
  readonly stalledBy: string | undefined;
  readonly alarms: readonly string[];
  readonly pod:
    | {
        readonly pod: string | undefined;
        readonly isReady: boolean;
        readonly leader: string | undefined;
        readonly held: number;
        readonly capacity: number;
        readonly unflushed: number;
        readonly blocked: number | undefined;
        readonly fleet: readonly { readonly status: string }[];
      }
    | undefined;
}

export function processGauges(pressure: Pressure, observed: Observed | undefined): Gauges {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return {
    process_cpu_seconds_total: (user + system) / 1_000_000,
    process_resident_memory_bytes: rss,
    nodejs_heap_size_used_bytes: heapUsed,
    nodejs_eventloop_utilization: pressure.loop,
    fleetq_process_uptime_seconds: process.uptime(),
    ...(observed ? engineGauges(observed) : {}),
    ...(observed?.pod ? podGauges(observed.pod) : {}),
  };
}

function engineGauges(observed: Observed): Gauges {
  const { busy, slots, queued, inMemory, blocked, stalledBy, alarms } = observed;
  return {
    fleetq_slots_busy: busy,
    fleetq_slots: slots,
    fleetq_runs_queued: queued,
    fleetq_runs_in_memory: inMemory,
    fleetq_runs_blocked: blocked,
    fleetq_journal_stalled: stalledBy === undefined ? 0 : 1,
    fleetq_journal_alarms: alarms.length,
  };
}

function podGauges(pod: NonNullable<Observed['pod']>): Gauges {
  return {
    fleetq_pod_ready: pod.isReady ? 1 : 0,
    fleetq_pod_leader: pod.pod !== undefined && pod.leader === pod.pod ? 1 : 0,
    fleetq_runs_held: pod.held,
    fleetq_runs_capacity: pod.capacity,
    fleetq_records_unflushed: pod.unflushed,
    fleetq_tasks_blocked: pod.blocked,
    fleetq_pods_up: pod.fleet.filter(({ status }) => status === 'up').length,
  };
}
