/** Which pod is it? Slots, event loop, memory, journal, archive, heartbeats and claims of each. */
import { falling, rising } from './colours.ts';
import { dashboard } from './dashboard.ts';
import { lines } from './panels.ts';
import { archive, journal } from './pods-disk.ts';
import { OF_POD, quantile, rate } from './promql.ts';
import { states, table } from './tables.ts';

const of = (name: string, by: string) => ({ of: name, where: OF_POD, by });
const each = (name: string) => [{ expr: `${name}{${OF_POD}}`, as: '{{instance}}' }];

const all = [
  table({
    title: 'Which pod is it?',
    about:
      'All of them as they are now. Two versions at once: a deploy is under way, or has stopped half way.',
    labels: ['instance', 'version', 'node'],
    columns: [
      // Its value is 1; the labels are what counts.
      {
        expr: `max by (instance, version, node) (fleetq_build_info{${OF_POD}})`,
        as: 'there',
        unit: 'none',
      },
    ],
    wide: 10,
  }),
  table({
    title: 'How are they?',
    about: 'Not ready, and not draining: its log says why, and so does /readyz.',
    labels: ['instance'],
    columns: [
      {
        expr: `max by (instance) (fleetq_pod_ready{${OF_POD}})`,
        as: 'ready',
        unit: 'bool_yes_no',
        thresholds: falling(1, 1),
      },
      { expr: `max by (instance) (fleetq_leader{${OF_POD}})`, as: 'leads', unit: 'bool_yes_no' },
      { expr: `max by (instance) (fleetq_draining{${OF_POD}})`, as: 'drains', unit: 'bool_yes_no' },
      {
        expr: `max by (instance) (fleetq_slots_busy{${OF_POD}} / fleetq_slots{${OF_POD}})`,
        as: 'slots in use',
        unit: 'percentunit',
      },
      {
        expr: `max by (instance) (fleetq_heartbeat_lag_seconds{${OF_POD}})`,
        as: 'last heartbeat',
        unit: 's',
        thresholds: rising(6, 15),
      },
    ],
    wide: 14,
  }),
  states({
    title: 'When was each ready?',
    about: 'Gaps are restarts, drains, or times without the store.',
    queries: each('fleetq_pod_ready'),
    yes: 'ready',
    no: 'not ready',
  }),
];

const slots = [
  lines({
    title: 'Slots in use',
    about:
      'Of each pod. All at 100 %: add pods or raise FLEETQ_SLOTS. One at 100 %: a phase hangs.',
    unit: 'percentunit',
    max: 1,
    queries: [
      { expr: `fleetq_slots_busy{${OF_POD}} / fleetq_slots{${OF_POD}}`, as: '{{instance}}' },
    ],
  }),
  lines({
    title: 'Tasks held, and room for',
    about:
      'Room falls below the slots when the loop is busy or memory short: then more slots do not help.',
    unit: 'short',
    queries: [
      { expr: `fleetq_runs_held{${OF_POD}}`, as: '{{instance}} holds' },
      { expr: `fleetq_runs_capacity{${OF_POD}}`, as: '{{instance}} has room for' },
    ],
  }),
  lines({
    title: 'Runs in memory, and queued for a slot',
    about: 'Local runs and those in hand. Queued for long: the slots are taken by long phases.',
    unit: 'short',
    queries: [
      { expr: `fleetq_runs_in_memory{${OF_POD}}`, as: '{{instance}} in memory' },
      { expr: `fleetq_runs_queued{${OF_POD}}`, as: '{{instance}} queued' },
    ],
  }),
];

const host = [
  lines({
    title: 'Event loop lag, p99',
    about:
      'A handler that computes holds everything up. Above 100 ms: move that work off the loop.',
    unit: 's',
    thresholds: rising(0.1, 1),
    queries: each('nodejs_eventloop_lag_p99_seconds'),
  }),
  lines({
    title: 'Memory',
    about:
      'Resident. It follows the runs in memory; what grows without them is a leak of a machine.',
    unit: 'bytes',
    queries: each('process_resident_memory_bytes'),
  }),
  lines({
    title: 'Processor',
    about:
      'Cores in use. A pod is one thread and a half: at 1 it is full, and another pod is needed.',
    unit: 'suffix: cores',
    queries: [{ expr: rate(of('process_cpu_seconds_total', 'instance')), as: '{{instance}}' }],
  }),
];

const claims = [
  lines({
    title: 'Claims, by result',
    about:
      'Empty: nothing to do. Contended: others were faster; much of it with work left is worth a look.',
    unit: 'suffix: /s',
    isStacked: true,
    queries: [{ expr: rate(of('fleetq_claims_total', 'result')), as: '{{result}}' }],
  }),
  lines({
    title: 'How many tasks does a claim bring?',
    about: 'Of claims that brought some. One at a time under load: slots come free one by one.',
    unit: 'short',
    queries: [
      {
        expr: `${rate(of('fleetq_tasks_claimed_total', 'instance'))} / (${rate({
          of: 'fleetq_claims_total',
          where: `${OF_POD},result="claimed"`,
          by: 'instance',
        })} > 0)`,
        as: '{{instance}}',
      },
    ],
  }),
  lines({
    title: 'How long do claiming and settling take? (p99)',
    about:
      'Round trips to the store, with waiting for a connection. Both slow: the store, or the way to it.',
    unit: 's',
    queries: [
      {
        expr: quantile(0.99, of('fleetq_claim_duration_seconds', 'instance')),
        as: '{{instance}} claim',
      },
      {
        expr: quantile(0.99, of('fleetq_settle_duration_seconds', 'instance')),
        as: '{{instance}} settle',
      },
    ],
  }),
];

export const pods = dashboard({
  name: 'pods',
  title: 'which pod is it?',
  about: 'Slots, event loop, memory, journal, archive, heartbeats and claims, by pod.',
  chooses: ['pod'],
  rows: [
    { title: 'All pods', panels: all },
    { title: 'Slots', panels: slots },
    { title: 'The process', panels: host },
    { title: 'The journal', panels: journal },
    { title: 'The archive, heartbeats and the store', panels: archive },
    { title: 'Claims', panels: claims },
  ],
});
