/** Which API is short? Limits, what is out and waits, refusals, breakers, and who has which share. */
import { named, rising } from './colours.ts';
import { dashboard } from './dashboard.ts';
import { lines } from './panels.ts';
import { leaderSays, OF_FLEET, quantile, rate, share } from './promql.ts';
import { table } from './tables.ts';

const OF_API = `${OF_FLEET},api=~"$api"`;
const of = (name: string, by: string, where = OF_API) => ({ of: name, where, by });
const sum = (name: string, by = 'api') => `sum by (${by}) (${name}{${OF_API}})`;
const max = (name: string, by = 'api') => `max by (${by}) (${name}{${OF_API}})`;
const CALLS = 'fleetq_throttle_calls_total';
/** What came back without an answer, because there was no room. */
const REFUSED = `${OF_API},outcome="throttled"`;
const FAILED = `${OF_API},outcome=~"failure|overload|timeout"`;

const now = [
  table({
    title: 'Which API is short?',
    about:
      'As they are now. Waiting with all permits out: the API gives no more. Waiting with permits free: it is paused, or left alone.',
    labels: ['api'],
    columns: [
      { expr: sum('fleetq_throttle_limit'), as: 'may be out', unit: 'short' },
      { expr: sum('fleetq_throttle_in_flight'), as: 'out', unit: 'short' },
      { expr: sum('fleetq_throttle_waiting'), as: 'wait', unit: 'short' },
      { expr: sum('fleetq_throttle_cooling'), as: 'cool off', unit: 'short' },
      {
        expr: share(rate(of(CALLS, 'api', REFUSED)), rate(of(CALLS, 'api'))),
        as: 'refused',
        unit: 'percentunit',
        thresholds: rising(0.05, 0.2),
      },
      {
        expr: max('fleetq_throttle_open'),
        as: 'left alone',
        unit: 'bool_yes_no',
        thresholds: rising(1, 1),
      },
    ],
    wide: 24,
  }),
];

const room = [
  lines({
    title: 'How much may be out?',
    about:
      'The fleet: what the leader has found or somebody has fixed. The sum of pods is below it while shares move, and half of it without the store.',
    unit: 'short',
    wide: 12,
    queries: [
      {
        expr: leaderSays('fleetq_throttle_fleet_limit', { where: OF_API, by: 'api' }),
        as: '{{api}}: the fleet',
      },
      { expr: sum('fleetq_throttle_limit'), as: '{{api}}: its pods' },
    ],
  }),
  lines({
    title: 'How much is out?',
    about:
      'At the limit, with some waiting, is as it should be. Far below it with many waiting: it is paused.',
    unit: 'short',
    wide: 12,
    queries: [{ expr: sum('fleetq_throttle_in_flight'), as: '{{api}}' }],
  }),
  lines({
    title: 'How many wait for leave?',
    about:
      'In slots. Whoever waits for more than 5 s is parked, and no longer here: fleetq runs --status waiting.',
    unit: 'short',
    colour: 'waiting',
    queries: [{ expr: sum('fleetq_throttle_waiting'), as: '{{api}}' }],
  }),
  lines({
    title: 'How long do they wait? (p95)',
    about: 'Of those who did wait, also in vain. At 5 s they are parked.',
    unit: 's',
    colour: 'waiting',
    queries: [{ expr: quantile(0.95, of('fleetq_throttle_wait_seconds', 'api')), as: '{{api}}' }],
  }),
  lines({
    title: 'How long does a good call take?',
    about:
      'The slowest pod. A median that grows with what is out: calls wait in line on the other side.',
    unit: 's',
    queries: [
      { expr: max('fleetq_throttle_latency_seconds', 'api, quantile'), as: '{{api}} {{quantile}}' },
    ],
  }),
];

const ends = [
  lines({
    title: 'Calls, by how they ended',
    about:
      'Throttled: no room. Overload, failure, timeout: the API is ill. Client: the call was wrong.',
    unit: 'suffix: /s',
    isStacked: true,
    queries: [{ expr: rate(of(CALLS, 'outcome')), as: '{{outcome}}' }],
    overrides: [named('ok', 'well'), named('throttled', 'waiting'), named('failure', 'badly')],
  }),
  lines({
    title: 'What share is refused?',
    about:
      'A few in a hundred is the cost of finding out how much there is. Above a fifth for long: somebody else uses the same quota, or calls go past `use`.',
    unit: 'percentunit',
    max: 1,
    colour: 'badly',
    thresholds: rising(0.05, 0.2),
    queries: [
      { expr: share(rate(of(CALLS, 'api', REFUSED)), rate(of(CALLS, 'api'))), as: '{{api}}' },
    ],
  }),
  lines({
    title: 'What share fails?',
    about: 'Half of them, or eight in a row, and the API is left alone.',
    unit: 'percentunit',
    max: 1,
    colour: 'badly',
    thresholds: rising(0.1, 0.5),
    queries: [
      { expr: share(rate(of(CALLS, 'api', FAILED)), rate(of(CALLS, 'api'))), as: '{{api}}' },
    ],
  }),
  lines({
    title: 'How many pods leave it alone?',
    about: 'Since it fails. One of them asks it whether it is well again.',
    unit: 'short',
    colour: 'badly',
    queries: [{ expr: sum('fleetq_throttle_open'), as: '{{api}}' }],
  }),
  lines({
    title: 'For how long did it ask to be left alone?',
    about: 'By Retry-After, at most ten minutes. Runs wait meanwhile, and lose no attempt.',
    unit: 's',
    colour: 'waiting',
    queries: [{ expr: max('fleetq_throttle_paused_seconds'), as: '{{api}}' }],
  }),
];

const shares = [
  lines({
    title: 'Who has which share?',
    about: 'Permits, by what pods ask for. A pod that has none and waits gets one in turn.',
    unit: 'short',
    wide: 12,
    isStacked: true,
    queries: [{ expr: sum('fleetq_throttle_limit', 'api, instance'), as: '{{api}} {{instance}}' }],
  }),
  lines({
    title: 'Who calls?',
    about:
      'Calls that are out. A pod whose calls never end holds its share: give the call `signal`.',
    unit: 'short',
    wide: 12,
    isStacked: true,
    queries: [
      { expr: sum('fleetq_throttle_in_flight', 'api, instance'), as: '{{api}} {{instance}}' },
    ],
  }),
];

export const apis = dashboard({
  name: 'apis',
  title: 'which API is short?',
  about:
    'What each external API takes, what is out and waits, what is refused or fails, and who has which share.',
  chooses: ['api'],
  rows: [
    { title: 'All APIs', panels: now },
    { title: 'Room', panels: room },
    { title: 'How calls end', panels: ends },
    { title: 'Pods', panels: shares },
  ],
});
