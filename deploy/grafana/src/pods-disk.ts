/** What pods keep and tell: the journal, the archive, heartbeats, and calls to the store. */
import { falling, rising } from './colours.ts';
import { lines } from './panels.ts';
import { OF_POD, quantile, rate } from './promql.ts';

const of = (name: string, by: string) => ({ of: name, where: OF_POD, by });
const each = (name: string) => [{ expr: `${name}{${OF_POD}}`, as: '{{instance}}' }];
const GIB = 1024 ** 3;

export const journal = [
  lines({
    title: 'fsync of the journal, p99',
    about:
      'Every phase waits for it. Above 250 ms the alert warns: another disk, or a quieter one.',
    unit: 's',
    thresholds: rising(0.1, 0.25),
    queries: [
      {
        expr: quantile(0.99, of('fleetq_journal_fsync_seconds', 'instance')),
        as: '{{instance}}',
      },
    ],
  }),
  lines({
    title: 'A group commit, p99',
    about:
      'From the first record that waits until all are on disk. Far above fsync: the loop is busy.',
    unit: 's',
    queries: [
      {
        expr: quantile(0.99, of('fleetq_journal_append_seconds', 'instance')),
        as: '{{instance}}',
      },
    ],
  }),
  lines({
    title: 'Records written',
    about: 'Five for a run of four phases. Records per commit tell how well commits are shared.',
    unit: 'suffix: /s',
    queries: [
      { expr: rate(of('fleetq_journal_records_total', 'instance')), as: '{{instance}} records' },
      { expr: rate(of('fleetq_journal_commits_total', 'instance')), as: '{{instance}} commits' },
    ],
  }),
  lines({
    title: 'Free space where the journal is',
    about:
      'Below 1 GiB somebody is called. At none, runs stand still; they go on when there is space.',
    unit: 'bytes',
    thresholds: falling(10 * GIB, GIB),
    queries: each('fleetq_journal_disk_free_bytes'),
  }),
  lines({
    title: 'Size of the journal',
    about: 'Ended runs are pruned after FLEETQ_RETENTION. It does not shrink, but stops growing.',
    unit: 'bytes',
    queries: each('fleetq_journal_bytes'),
  }),
  lines({
    title: 'Does the journal stand still?',
    about:
      '1 while it cannot be written; alarms count damage that was found. fleetq doctor says more.',
    unit: 'short',
    colour: 'badly',
    queries: [
      { expr: `fleetq_journal_stalled{${OF_POD}}`, as: '{{instance}} stalled' },
      { expr: `fleetq_journal_alarms{${OF_POD}}`, as: '{{instance}} alarms' },
      { expr: rate(of('fleetq_journal_stalls_total', 'instance')), as: '{{instance}} stalls /s' },
    ],
  }),
];

export const archive = [
  lines({
    title: 'Events not yet in the store',
    about:
      'What another pod would do again if this disk were lost. At 50,000 the pod claims nothing more.',
    unit: 'short',
    thresholds: rising(25_000, 50_000),
    queries: each('fleetq_archive_pending_events'),
  }),
  lines({
    title: 'How far is the archive behind?',
    about:
      'The age of the oldest of them; about FLEETQ_ARCHIVE, 5 s, where all is well. At a minute there is an alert.',
    unit: 's',
    thresholds: rising(30, 60),
    queries: each('fleetq_archive_lag_seconds'),
  }),
  lines({
    title: 'Time since the last heartbeat',
    about: 'A saw of 3 s. At FLEETQ_SILENCE, 15 s, others take the pod for dead and take its runs.',
    unit: 's',
    thresholds: rising(6, 15),
    queries: each('fleetq_heartbeat_lag_seconds'),
  }),
  lines({
    title: 'Heartbeats, by result',
    about:
      'Failed: the store was not reached. Refused: the pod had been taken for dead, or is a copy.',
    unit: 'suffix: /s',
    isStacked: true,
    queries: [{ expr: rate(of('fleetq_heartbeats_total', 'result')), as: '{{result}}' }],
  }),
  lines({
    title: 'Time without the store',
    about: 'The share of time that each pod was past its deadline and began no claimed phase.',
    unit: 'percentunit',
    max: 1,
    colour: 'badly',
    queries: [{ expr: rate(of('fleetq_island_seconds_total', 'instance')), as: '{{instance}}' }],
  }),
  lines({
    title: 'Calls to the store that failed',
    about:
      'One pod alone: its network. All of them: the store. Refused: a value that it cannot hold.',
    unit: 'suffix: /s',
    colour: 'badly',
    queries: [
      {
        expr: rate(of('fleetq_store_errors_total', 'instance, call, code')),
        as: '{{instance}} {{call}} {{code}}',
      },
    ],
  }),
];
