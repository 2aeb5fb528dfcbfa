/** Does the fleet heal? Leader, deaths, sweeps, orphans, dead letters, and what is blocked. */
import { named, rising } from './colours.ts';
import { dashboard } from './dashboard.ts';
import { figure, lines } from './panels.ts';
import { increase, leaderSays, OF_FLEET, quantile, rate } from './promql.ts';
import { states } from './tables.ts';

const of = (name: string, by?: string) =>
  by === undefined ? { of: name, where: OF_FLEET } : { of: name, where: OF_FLEET, by };

const leader = [
  states({
    title: 'Who has led, and when?',
    about:
      'The oldest pod that is up leads. Short gaps at a change are normal: nothing is unsafe without a leader, only slower.',
    queries: [{ expr: `max by (instance) (fleetq_leader{${OF_FLEET}})`, as: '{{instance}}' }],
    yes: 'leads',
    no: 'does not',
    wide: 12,
  }),
  lines({
    title: 'Changes of leader',
    about:
      'One for each deploy of the leader. Many: its heartbeats are late, see the dashboard of pods.',
    unit: 'short',
    wide: 6,
    high: 7,
    queries: [{ expr: increase(of('fleetq_leader_changes_total')), as: 'changes' }],
  }),
  lines({
    title: 'Pods, by status',
    about:
      'As the leader sees them. Silent turns dead within seconds; dead that stays: their work is not swept yet.',
    unit: 'short',
    wide: 6,
    high: 7,
    isStacked: true,
    queries: [{ expr: leaderSays('fleetq_pods', { by: 'status' }), as: '{{status}}' }],
  }),
];

const deaths = [
  figure({
    title: 'Pods declared dead, last day',
    about:
      'By silence, not by a drain. A few a day is life on a cloud; one after the other is a poison task or memory.',
    unit: 'none',
    decimals: 0,
    wide: 4,
    queries: [
      {
        expr: increase({ ...of('fleetq_death_detection_seconds_count'), window: '1d' }),
        as: 'deaths',
      },
    ],
    thresholds: rising(5, 50),
    none: '0',
  }),
  lines({
    title: 'How long until a death is noticed?',
    about: 'From its last heartbeat. About FLEETQ_SILENCE, 15 s; more where the leader died too.',
    unit: 's',
    wide: 10,
    queries: [0.5, 0.99].map((q) => ({
      expr: quantile(q, { ...of('fleetq_death_detection_seconds'), window: '1h' }),
      as: `p${q * 100}`,
    })),
  }),
  lines({
    title: 'Taken for dead, and claims that were lost',
    about:
      'Pods that live and were given up, and work of theirs that was refused, as it has to be. Many: pauses, starved hosts, or a silence that is too short.',
    unit: 'short',
    wide: 10,
    queries: [
      { expr: increase(of('fleetq_pod_deaths_total')), as: 'taken for dead' },
      { expr: increase(of('fleetq_claims_lost_total')), as: 'claims lost' },
    ],
    overrides: [named('taken for dead', 'badly'), named('claims lost', 'waiting')],
  }),
];

const sweep = [
  lines({
    title: 'Orphans',
    about:
      'Tasks of dead and silent pods that nobody has taken yet. They go within seconds of the silence; if not: fleetq sweep --dry-run.',
    unit: 'short',
    colour: 'waiting',
    queries: [{ expr: leaderSays('fleetq_orphans'), as: 'orphans' }],
  }),
  lines({
    title: 'How old is the oldest orphan?',
    about:
      'Since its owner was last heard of: a silence, and some seconds. Above a minute somebody is called: a leader that does not sweep, or a store that refuses.',
    unit: 's',
    thresholds: rising(30, 60),
    colour: 'waiting',
    queries: [{ expr: `max(fleetq_orphans_oldest_age_seconds{${OF_FLEET}})`, as: 'oldest' }],
  }),
  lines({
    title: 'Recovered, by reason',
    about: 'Tasks that a sweep gave back to the fleet, or ended. Compare with resumed runs.',
    unit: 'short',
    isStacked: true,
    queries: [{ expr: increase(of('fleetq_sweep_recovered_total', 'reason')), as: '{{reason}}' }],
  }),
  lines({
    title: 'Sweeps',
    about:
      'Started only where there is something to sweep. Many that recover nothing: look at its log.',
    unit: 'short',
    queries: [{ expr: increase(of('fleetq_sweeps_total')), as: 'sweeps' }],
  }),
  lines({
    title: 'How long does a sweep take? (p95)',
    about:
      'It grows with what the dead pods held. Minutes: the store is slow, or locked rows are in the way.',
    unit: 's',
    queries: [{ expr: quantile(0.95, of('fleetq_sweep_duration_seconds')), as: 'p95' }],
  }),
  lines({
    title: 'Runs taken up again',
    about:
      'After a crash, a deploy or a park, by machine: from the phase after the last that is on record.',
    unit: 'suffix: /s',
    queries: [{ expr: rate(of('fleetq_runs_resumed_total', 'machine')), as: '{{machine}}' }],
  }),
];

const left = [
  lines({
    title: 'Dead letters, by machine',
    about: 'What failed for good: mend the cause, then fleetq dead-letters redrive --machine NAME.',
    unit: 'short',
    colour: 'badly',
    isStacked: true,
    queries: [{ expr: leaderSays('fleetq_dead_letters', { by: 'machine' }), as: '{{machine}}' }],
  }),
  lines({
    title: 'Blocked',
    about:
      'Tasks and local runs whose version no pod has. fleetq machines names it; deploy it again, or add an upgrade.',
    unit: 'short',
    queries: [
      { expr: leaderSays('fleetq_tasks_blocked'), as: 'tasks of the fleet' },
      { expr: `sum(fleetq_runs_blocked{${OF_FLEET}})`, as: 'local runs' },
    ],
    overrides: [named('tasks of the fleet', 'badly'), named('local runs', 'waiting')],
  }),
  lines({
    title: 'What do runs wait for?',
    about:
      'In pods, by reason. Retry that grows: something outside is down, and attempts are being used up.',
    unit: 'short',
    isStacked: true,
    queries: [{ expr: `sum by (reason) (fleetq_runs_waiting{${OF_FLEET}})`, as: '{{reason}}' }],
  }),
];

const drains = [
  lines({
    title: 'Which pods drain, and for how long?',
    about: 'Longer than FLEETQ_DRAIN_BUDGET, 25 s, and a few: it hangs, and will be killed.',
    unit: 's',
    wide: 12,
    colour: 'neither',
    queries: [{ expr: `fleetq_draining_seconds{${OF_FLEET}}`, as: '{{instance}}' }],
  }),
  lines({
    title: 'How long does a drain take?',
    about:
      'Near the budget: phases are cut off at each deploy. Raise the budget, or make phases shorter.',
    unit: 's',
    wide: 12,
    queries: [0.5, 0.95].map((q) => ({
      expr: quantile(q, { ...of('fleetq_drain_seconds'), window: '1d' }),
      as: `p${q * 100}`,
    })),
  }),
];

const away = [
  lines({
    title: 'Who is alone, and for how long?',
    about:
      'Past the deadline without an answer of the store. All of them: the store. One: its way there. Above five minutes somebody is told.',
    unit: 's',
    wide: 12,
    thresholds: rising(60, 300),
    queries: [
      { expr: `max by (instance) (fleetq_alone_seconds{${OF_FLEET}})`, as: '{{instance}}' },
    ],
  }),
  lines({
    title: 'What did a failover lose?',
    about:
      'By the word of the pods, in tasks. Lost: it was acknowledged, and is gone. Written and restored: the pods have put it back.',
    unit: 'short',
    wide: 12,
    queries: [{ expr: increase(of('fleetq_store_rewound_total', 'what')), as: '{{what}}' }],
    overrides: [named('enqueue_lost', 'badly'), named('outcome_lost', 'badly')],
  }),
];

export const recovery = dashboard({
  name: 'recovery',
  title: 'does it heal?',
  about: 'Leader, deaths, sweeps, orphans, dead letters, what is blocked, drains, outages.',
  chooses: [],
  rows: [
    { title: 'The leader', panels: leader },
    { title: 'Deaths', panels: deaths },
    { title: 'Sweep', panels: sweep },
    { title: 'What is left for people', panels: left },
    { title: 'Drains', panels: drains },
    { title: 'Without the store, and with another server', panels: away },
  ],
});
