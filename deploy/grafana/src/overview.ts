/** Is the fleet well? What one looks at first, and where to look next. */
import { falling, named, rising } from './colours.ts';
import { dashboard } from './dashboard.ts';
import { figure, lines } from './panels.ts';
import { COUNTED, FAILED, leaderSays, OF_FLEET, quantile, rate, share } from './promql.ts';
import { table } from './tables.ts';

const of = (name: string, by?: string) =>
  by === undefined ? { of: name, where: OF_FLEET } : { of: name, where: OF_FLEET, by };

const runs = (outcomes: string, window?: string) =>
  rate({
    of: 'fleetq_runs_finished_total',
    where: `${OF_FLEET},${outcomes}`,
    ...(window === undefined ? {} : { window }),
  });

const now = [
  figure({
    title: 'Pods up',
    about:
      'As the leader sees them in the store. Fewer than you deployed: see the dashboard of pods.',
    unit: 'none',
    queries: [{ expr: leaderSays('fleetq_pods', { where: `${OF_FLEET},status="up"` }), as: 'up' }],
    thresholds: falling(1, 1),
    none: 'nobody leads',
  }),
  figure({
    title: 'Who leads?',
    about:
      'The oldest pod that is up. Nobody for minutes: nothing that a dead pod held is taken over.',
    unit: 'none',
    queries: [{ expr: `fleetq_leader{${OF_FLEET}} == 1`, as: '{{instance}}' }],
    isName: true,
    none: 'nobody',
  }),
  figure({
    title: 'Oldest due task',
    about:
      'How long the task has waited that waits longest, of those that are due. Above five minutes somebody is called: add pods, or find what holds them up.',
    unit: 's',
    queries: [{ expr: `max(fleetq_queue_oldest_age_seconds{${OF_FLEET}})`, as: 'oldest' }],
    thresholds: rising(60, 300),
    none: '0 s',
  }),
  figure({
    title: 'Runs that ended well, last hour',
    about: 'Cancelled ones are not counted. The dashboard of machines says which machine it is.',
    unit: 'percentunit',
    decimals: 2,
    queries: [{ expr: `1 - ${share(runs(FAILED, '1h'), runs(COUNTED, '1h'))}`, as: 'well' }],
    thresholds: falling(0.99, 0.95),
    none: 'no runs',
  }),
  figure({
    title: 'Dead letters',
    about: 'Tasks that failed for good and nobody has put away: fleetq dead-letters list.',
    unit: 'short',
    queries: [{ expr: leaderSays('fleetq_dead_letters'), as: 'dead letters' }],
    thresholds: rising(1, 100),
    none: '0',
  }),
  figure({
    title: 'Orphans',
    about: 'Tasks whose pod is dead and that nobody has yet. More than a minute: see recovery.',
    unit: 'short',
    queries: [{ expr: leaderSays('fleetq_orphans'), as: 'orphans' }],
    thresholds: rising(1, 1_000),
    none: '0',
  }),
  figure({
    title: 'Blocked tasks',
    about: 'No pod that is up has their version: fleetq machines says which one is missing.',
    unit: 'short',
    queries: [{ expr: leaderSays('fleetq_tasks_blocked'), as: 'blocked' }],
    thresholds: rising(1, 100),
    none: '0',
  }),
  figure({
    title: 'Slots in use',
    about: 'Of all pods together. Near 100 % with a growing queue: add pods or slots.',
    unit: 'percentunit',
    decimals: 0,
    queries: [
      {
        expr: `sum(fleetq_slots_busy{${OF_FLEET}}) / sum(fleetq_slots{${OF_FLEET}})`,
        as: 'busy',
      },
    ],
    thresholds: rising(0.9, 1.01),
    none: 'no pods',
  }),
];

const work = [
  lines({
    title: 'Runs that end, by outcome',
    about:
      'Red is what failed for good. A step downwards without one in the queue: less was asked for.',
    unit: 'suffix: /s',
    isStacked: true,
    queries: [{ expr: rate(of('fleetq_runs_finished_total', 'outcome')), as: '{{outcome}}' }],
  }),
  lines({
    title: 'Does the queue grow?',
    about:
      'Tasks that have not ended, counted up to 10,000 for each machine. Pending that only grows: pods are too few, too slow or not there.',
    unit: 'short',
    isStacked: true,
    queries: [{ expr: leaderSays('fleetq_queue_depth', { by: 'status' }), as: '{{status}}' }],
  }),
  lines({
    title: 'How long does a task wait for a pod?',
    about: 'From when it was due until a pod began it. The aim is a minute for 99 of 100.',
    unit: 's',
    thresholds: rising(60, 300),
    queries: [0.5, 0.95, 0.99].map((q) => ({
      expr: quantile(q, of('fleetq_run_queue_seconds')),
      as: `p${q * 100}`,
    })),
  }),
  lines({
    title: 'Begun, resumed, ended',
    about:
      'Resumed: taken up after a crash, a deploy or a wait. Begun above ended for long: runs take longer than they did.',
    unit: 'suffix: /s',
    queries: [
      { expr: rate(of('fleetq_runs_started_total')), as: 'begun' },
      { expr: rate(of('fleetq_runs_resumed_total')), as: 'resumed' },
      { expr: rate(of('fleetq_runs_finished_total')), as: 'ended' },
    ],
    overrides: [named('ended', 'well'), named('resumed', 'waiting')],
  }),
  lines({
    title: 'Error budget burn, last hour',
    about:
      'How many times faster than allowed runs fail, by machine; needs the recording rules. 1 uses the budget up in 30 days; from 14.4 on somebody is called.',
    unit: 'suffix:×',
    thresholds: rising(6, 14.4),
    colour: 'badly',
    queries: [
      {
        expr: `max by (machine) (job_machine:fleetq_runs_failed:ratio_rate1h{${OF_FLEET}}) / 0.01`,
        as: '{{machine}}',
      },
    ],
  }),
  lines({
    title: 'Retries',
    about:
      'Attempts that failed and are made again. Many with few failures: something outside wavers.',
    unit: 'suffix: /s',
    isStacked: true,
    colour: 'waiting',
    queries: [{ expr: rate(of('fleetq_retries_total', 'cause')), as: '{{cause}}' }],
  }),
];

const store = [
  lines({
    title: 'Does the store answer?',
    about:
      'Calls that failed, by what was asked. A burst of seconds is a failover; minutes are an outage.',
    unit: 'suffix: /s',
    isStacked: true,
    colour: 'badly',
    queries: [{ expr: rate(of('fleetq_store_errors_total', 'call')), as: '{{call}}' }],
  }),
  lines({
    title: 'How long does the store take?',
    about:
      'The slowest of 100 calls, by what was asked. Claims that grow slower: vacuum, or an index.',
    unit: 's',
    queries: [
      { expr: quantile(0.99, of('fleetq_store_duration_seconds', 'call')), as: '{{call}}' },
    ],
  }),
  lines({
    title: 'Pods without the store',
    about:
      'How many pods were past their deadline, on average. Their claimed runs begin no phase until it answers.',
    unit: 'suffix: pods',
    colour: 'badly',
    queries: [{ expr: rate(of('fleetq_island_seconds_total', 'job')), as: '{{job}}' }],
  }),
];

const alerts = [
  table({
    title: 'What is firing?',
    about:
      'Alerts of deploy/prometheus/alerts.yaml, if this Prometheus has them. Each has a runbook.',
    labels: ['alertname', 'severity', 'job', 'machine', 'instance', 'cause'],
    columns: [
      {
        expr: 'ALERTS{alertname=~"Fleetq.+",alertstate="firing"}',
        as: 'firing',
        unit: 'none',
      },
    ],
    high: 6,
  }),
];

export const overview = dashboard({
  name: 'overview',
  title: 'is the fleet well?',
  about: 'What to look at first. Every panel says what to do about it.',
  chooses: [],
  rows: [
    { title: 'Now', panels: now },
    { title: 'Alerts', panels: alerts },
    { title: 'Does work get done?', panels: work },
    { title: 'The store', panels: store },
  ],
});
