/** Which machine is it? Rates, failures, durations, waits, phases and retries of each. */
import { rising } from './colours.ts';
import { dashboard } from './dashboard.ts';
import { lines } from './panels.ts';
import { COUNTED, FAILED, leaderSays, OF_MACHINE, quantile, rate, share } from './promql.ts';
import { heat, table } from './tables.ts';

const of = (name: string, by?: string) =>
  by === undefined ? { of: name, where: OF_MACHINE } : { of: name, where: OF_MACHINE, by };
const runs = (outcomes: string) =>
  rate({ of: 'fleetq_runs_finished_total', where: `${OF_MACHINE},${outcomes}`, by: 'machine' });

const all = [
  table({
    title: 'Which machine is it?',
    about: 'All of them as they are now. Sort by what hurts, then choose that machine at the top.',
    labels: ['machine'],
    columns: [
      {
        expr: rate(of('fleetq_runs_finished_total', 'machine')),
        as: 'runs ended',
        unit: 'suffix: /s',
      },
      {
        expr: share(runs(FAILED), runs(COUNTED)),
        as: 'failed',
        unit: 'percentunit',
        thresholds: rising(0.01, 0.05),
      },
      {
        expr: quantile(0.95, of('fleetq_run_duration_seconds', 'machine')),
        as: 'duration p95',
        unit: 's',
      },
      {
        expr: quantile(0.95, of('fleetq_run_queue_seconds', 'machine')),
        as: 'queue wait p95',
        unit: 's',
        thresholds: rising(60, 300),
      },
      { expr: rate(of('fleetq_retries_total', 'machine')), as: 'retries', unit: 'suffix: /s' },
      {
        expr: leaderSays('fleetq_queue_depth', {
          where: `${OF_MACHINE},status="pending"`,
          by: 'machine',
        }),
        as: 'pending',
        unit: 'short',
      },
      {
        expr: leaderSays('fleetq_dead_letters', { where: OF_MACHINE, by: 'machine' }),
        as: 'dead letters',
        unit: 'short',
        thresholds: rising(1, 100),
      },
    ],
  }),
];

const ends = [
  lines({
    title: 'Runs that end, by outcome',
    about:
      'Red failed for good and is a dead letter. Aborted: the machine itself gave up. Exhausted: every attempt failed.',
    unit: 'suffix: /s',
    isStacked: true,
    queries: [{ expr: rate(of('fleetq_runs_finished_total', 'outcome')), as: '{{outcome}}' }],
  }),
  lines({
    title: 'What share fails?',
    about:
      'Of runs that ended and were not cancelled. One bad machine is code or its service; all of them is the fleet.',
    unit: 'percentunit',
    max: 1,
    colour: 'badly',
    queries: [{ expr: share(runs(FAILED), runs(COUNTED)), as: '{{machine}}' }],
  }),
  lines({
    title: 'New dead letters, by outcome',
    about: 'How many an hour. fleetq dead-letters list --machine NAME has their errors.',
    unit: 'suffix: /h',
    isStacked: true,
    colour: 'badly',
    queries: [
      { expr: `3600 * ${rate(of('fleetq_dead_letters_total', 'outcome'))}`, as: '{{outcome}}' },
    ],
  }),
];

const times = [
  heat({
    title: 'How long do runs take?',
    about: 'From start to end, waits included. Two bands are two kinds of work, or retries.',
    expr: rate(of('fleetq_run_duration_seconds_bucket', 'le')),
  }),
  heat({
    title: 'How long do tasks wait for a pod?',
    about: 'From when they were due until a pod began them. A band that climbs: too few slots.',
    expr: rate(of('fleetq_run_queue_seconds_bucket', 'le')),
  }),
  lines({
    title: 'Duration of runs, p95',
    about: 'By machine, sleeps and retries included. Compare with the phases below.',
    unit: 's',
    queries: [
      { expr: quantile(0.95, of('fleetq_run_duration_seconds', 'machine')), as: '{{machine}}' },
    ],
  }),
  lines({
    title: 'Queue wait, p95',
    about:
      'By machine. Only one machine waits: its versions are on few pods (fleetq machines). All wait: add pods.',
    unit: 's',
    thresholds: rising(60, 300),
    queries: [
      { expr: quantile(0.95, of('fleetq_run_queue_seconds', 'machine')), as: '{{machine}}' },
    ],
  }),
  lines({
    title: 'Queue, by machine',
    about: 'Pending tasks. What only grows is not kept up with.',
    unit: 'short',
    queries: [
      {
        expr: leaderSays('fleetq_queue_depth', {
          where: `${OF_MACHINE},status="pending"`,
          by: 'machine',
        }),
        as: '{{machine}}',
      },
    ],
  }),
];

const phases = [
  lines({
    title: 'Which phase is slow? (p95)',
    about:
      'By step and phase, one attempt each. Persist and check should be quick: work is where time goes.',
    unit: 's',
    wide: 12,
    queries: [
      {
        expr: quantile(0.95, of('fleetq_phase_duration_seconds', 'machine, step, phase')),
        as: '{{machine}} {{step}}.{{phase}}',
      },
    ],
  }),
  lines({
    title: 'What is retried, and why?',
    about:
      'Attempts that are made again. Timeout: the service is slow, or the limit too low. Interrupted: a pod died in it.',
    unit: 'suffix: /s',
    wide: 12,
    isStacked: true,
    colour: 'waiting',
    queries: [
      {
        expr: rate(of('fleetq_retries_total', 'machine, step, phase, cause')),
        as: '{{machine}} {{step}}.{{phase}}: {{cause}}',
      },
    ],
  }),
  lines({
    title: 'Phases, by outcome',
    about:
      'Every attempt of every phase. Handed off: it was there already, and nothing had to be done.',
    unit: 'suffix: /s',
    wide: 12,
    isStacked: true,
    queries: [{ expr: rate(of('fleetq_phases_total', 'outcome')), as: '{{outcome}}' }],
  }),
  lines({
    title: 'Phases, by step',
    about:
      'Where runs are at work. A step that has stopped while others go on is the one to look at.',
    unit: 'suffix: /s',
    wide: 12,
    queries: [
      { expr: rate(of('fleetq_phases_total', 'machine, step')), as: '{{machine}} {{step}}' },
    ],
  }),
];

export const machines = dashboard({
  name: 'machines',
  title: 'which machine is it?',
  about: 'Rates, failures, durations, waits, phases and retries, by machine.',
  chooses: ['machine'],
  rows: [
    { title: 'All machines', panels: all },
    { title: 'How do runs end?', panels: ends },
    { title: 'How long does it take?', panels: times },
    { title: 'Phases', panels: phases },
  ],
});
