/**
 * Every metric there is, by name: what it is, which labels it has, and who shows it. The reference page
 * says the same, and a test holds the two together.
 *
 * Labels hold words of registered definitions and of FleetQ itself: never an id, an input, or a text
 * that came from elsewhere. Queues are named only where people have given them a rule, 100 at most.
 */
export interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** `leader`: only by the pod that leads, and only while it does; `sink`: by `fleetq sink`, and no pod. */
  readonly by: 'pod' | 'leader' | 'sink';
}

type Words = readonly string[];
const counter = (help: string, ...labels: Words) => of('counter', help, labels);
const gauge = (help: string, ...labels: Words) => of('gauge', help, labels);
const seconds = (help: string, ...labels: Words) => of('histogram', help, labels);
const leads = (help: string, ...labels: Words): Definition => ({
  ...of('gauge', help, labels),
  by: 'leader',
});

const sinks = (definition: Definition): Definition => ({ ...definition, by: 'sink' });

function of(type: Definition['type'], help: string, labels: Words): Definition {
  return { type, help, labels, by: 'pod' };
}

const PLACE = ['machine', 'step', 'phase'] as const;

export const CATALOGUE = {
  // Runs
  fleetq_runs_enqueued_total: counter('Tasks that this process enqueued', 'machine'),
  fleetq_runs_started_total: counter('Runs begun here', 'machine'),
  fleetq_runs_resumed_total: counter('Runs taken up from their records', 'machine'),
  fleetq_runs_finished_total: counter('Runs ended here', 'machine', 'outcome'),
  fleetq_run_duration_seconds: seconds('From start to end of a run', 'machine', 'outcome'),
  fleetq_run_queue_seconds: seconds('How long a claimed task had been due', 'machine'),
  fleetq_phases_total: counter('Phase attempts ended', ...PLACE, 'outcome'),
  fleetq_phase_duration_seconds: seconds('How long a phase attempt took', ...PLACE),
  fleetq_retries_total: counter('Phase attempts that are made again', ...PLACE, 'cause'),
  fleetq_dead_letters_total: counter('Runs and tasks that failed for good', 'machine', 'outcome'),
  // Claims and settlements
  fleetq_claims_total: counter('Times the store was asked for tasks', 'result'),
  fleetq_claim_backoffs_total: counter('Waits after a look for tasks that was in vain'),
  fleetq_claim_duration_seconds: seconds('How long an answered claim took'),
  fleetq_claim_batch_size: of('histogram', 'Tasks got by a claim that got any', []),
  fleetq_tasks_claimed_total: counter('Tasks claimed and taken up'),
  fleetq_tasks_settled_total: counter('Tasks ended, parked or given back', 'to'),
  fleetq_settle_duration_seconds: seconds('How long an answered settlement took'),
  fleetq_claims_lost_total: counter('Claims that turned out to be others by now'),
  fleetq_runs_archived_total: counter('Runs whose records went to the store before they ended'),
  // The journal
  fleetq_journal_commits_total: counter('Group commits'),
  fleetq_journal_records_total: counter('Records written'),
  fleetq_journal_append_seconds: seconds('How long a group commit took, fsync included'),
  fleetq_journal_fsync_seconds: seconds('The part of it in which it was put on disk'),
  fleetq_journal_stalls_total: counter('Times the journal could not be written'),
  fleetq_journal_stalled: gauge('1 while the journal cannot be written'),
  fleetq_journal_alarms: gauge('What was found wrong with the journal at the start'),
  fleetq_journal_bytes: gauge('Size of the files of the journal'),
  fleetq_journal_disk_free_bytes: gauge('Room on the disk of the journal'),
  // The pod among pods
  fleetq_heartbeats_total: counter('Heartbeats', 'result'),
  fleetq_heartbeat_lag_seconds: gauge('How long ago the last heartbeat that was taken was sent'),
  fleetq_island_seconds_total: counter('Time past the deadline without an answer of the store'),
  fleetq_alone_seconds: gauge(
    'For how long past the deadline the store has not answered; 0: it does',
  ),
  fleetq_superseded_runs_total: counter('Runs that went on meanwhile, and were others by then'),
  fleetq_phases_delayed_total: counter('Phases held back meanwhile'),
  fleetq_pod_deaths_total: counter('Times this process was taken for dead'),
  fleetq_pod_ready: gauge('1 where /readyz answers 200'),
  fleetq_store_duration_seconds: seconds('How long an answered call of the store took', 'call'),
  fleetq_store_errors_total: counter('Calls of the store that failed', 'call', 'code'),
  fleetq_store_failovers_total: counter('Times another server of the store took over'),
  fleetq_store_rewound_total: counter('Tasks of which it had lost something', 'what'),
  fleetq_archive_pending_events: gauge('Records that the store does not have yet'),
  fleetq_archive_lag_seconds: gauge('Age of the oldest of them'),
  fleetq_drain_seconds: seconds('How long a drain took'),
  fleetq_draining: gauge('1 while it drains'),
  fleetq_draining_seconds: gauge('For how long it has been draining'),
  // What is in hand
  fleetq_slots: gauge('How many runs may be executed at once'),
  fleetq_slots_busy: gauge('How many are'),
  fleetq_runs_queued: gauge('Runs that wait for a slot'),
  fleetq_runs_in_memory: gauge('Unfinished runs in memory'),
  fleetq_runs_held: gauge('Tasks claimed by this pod'),
  fleetq_runs_capacity: gauge('How many it would hold'),
  fleetq_runs_blocked: gauge('Runs of this host that no version which is here goes on with'),
  fleetq_runs_waiting: gauge('Runs in memory that wait', 'reason'),
  fleetq_build_info: gauge('Always 1', 'version', 'node', 'machines'),
  nodejs_eventloop_utilization: gauge('Share of the time since the last look it was busy in'),
  // APIs that are called
  fleetq_throttle_limit: gauge('Calls of an API that may be out at once here', 'api'),
  fleetq_throttle_in_flight: gauge('How many are', 'api'),
  fleetq_throttle_cooling: gauge('Permits of refused calls, held back for a moment', 'api'),
  fleetq_throttle_waiting: gauge('Calls that wait for leave', 'api'),
  fleetq_throttle_wait_seconds: seconds('How long a phase had to wait for leave', 'api'),
  fleetq_throttle_calls_total: counter('Calls that have ended', 'api', 'outcome'),
  fleetq_throttle_latency_seconds: gauge('How long good calls took of late', 'api', 'quantile'),
  fleetq_throttle_open: gauge('1 while an API is left alone since it fails', 'api'),
  fleetq_throttle_paused_seconds: gauge('For how long it asked to be left alone', 'api'),
  fleetq_throttle_fleet_limit: leads('Calls that the fleet may have out together', 'api'),
  // Recovery, by whoever leads
  fleetq_leader: gauge('1 where this pod leads the fleet'),
  fleetq_leader_changes_total: counter('Times this pod came to lead the fleet'),
  fleetq_sweeps_total: counter('Sweeps that found something to do'),
  fleetq_sweep_duration_seconds: seconds('How long such a sweep took'),
  fleetq_sweep_recovered_total: counter('Tasks taken from pods that are no more', 'reason'),
  fleetq_death_detection_seconds: seconds('Silence of a pod when it was declared dead'),
  fleetq_recovery_failures_total: counter('Recovery runs that failed'),
  // The fleet, as the leader sees it
  fleetq_queue_depth: leads('Tasks that have not ended, up to 10,000', 'machine', 'status'),
  fleetq_queue_oldest_age_seconds: leads('For how long the oldest task has been due', 'machine'),
  fleetq_tasks_waiting: leads('Parked tasks, up to 10,000 for each version', 'reason'),
  fleetq_tasks_blocked: leads('Tasks that no pod which is up can go on with'),
  fleetq_dead_letters: leads('Failed tasks that nobody has discarded, up to 10,000', 'machine'),
  fleetq_orphans: leads('Tasks of dead, gone or silent pods that nobody has taken yet'),
  fleetq_orphans_oldest_age_seconds: leads('Since their first owner was heard of'),
  fleetq_queue_limit: leads('How many of a queue may be claimed at once', 'queue'),
  fleetq_queue_claimed: leads('Tasks claimed of a queue with a limit or a pause', 'queue'),
  fleetq_queue_paused: leads('1 while people have paused the queue', 'queue'),
  fleetq_schedule_late_seconds: leads('For how long the first tick has been due'),
  fleetq_retention_late_seconds: leads('For how long the first ended task should be gone'),
  fleetq_store_oldest_transaction_seconds: leads('Age of the oldest transaction of the server'),
  fleetq_pods: leads('Pods', 'status'),
  fleetq_fleet_sample_age_seconds: leads('Age of the figures above'),
  // The archive
  fleetq_sink_rows_total: sinks(counter('Rows sent to the archive, and answered for', 'table')),
  fleetq_sink_events_total: sinks(counter('Records of runs in those rows')),
  fleetq_sink_failures_total: sinks(counter('Rounds that failed, and are done again', 'code')),
  fleetq_sink_lag_seconds: sinks(gauge('Since when the archive may lack something')),
} as const satisfies Record<string, Definition>;

export type MetricName = keyof typeof CATALOGUE;

/** From a millisecond to an hour. */
export const SECONDS_BUCKETS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 150, 300, 600,
  1200, 3600,
];
/** A claim takes 500 at most. */
export const BATCH_BUCKETS: readonly number[] = [1, 2, 5, 10, 25, 50, 100, 250, 500];
