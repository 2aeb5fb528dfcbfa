/** What docs/benchmarks.md says of each growth bench, and which of its figures it shows. */

export interface Reported {
  readonly name: string;
  readonly title: string;
  readonly says: string;
  /** What stands over a column, and the path of the figure. */
  readonly columns: readonly (readonly [title: string, path: string])[];
}

export const REPORTED: readonly Reported[] = [
  {
    name: 'queues',
    title: 'Queues',
    says: `200,000 tasks ready in so many queues of one machine, claimed 64 at a time; then one pod that runs them. A claim looks at no more queues
than it takes tasks, and the next one goes on where it ended. A task of a high priority is found wherever it is.`,
    columns: [
      ['queues', 'queues'],
      ['claim p50 / p99, ms', 'claimMs.p50 / claimMs.p99'],
      ['WAL a claim, KiB', 'walKiBPerClaim'],
      ['pages touched a claim', 'pagesPerClaim'],
      ['claims until a task of priority 10 in the last queue', 'claimsUntilUrgent'],
      ['trivial runs a second, one pod', 'runsPerSecond'],
    ],
  },
  {
    name: 'held-xmin',
    title: 'A transaction that stays open',
    says: `500 tasks a second for one pod of 64 slots, while a transaction is held open elsewhere, so that Postgres can remove nothing that ended since.
Claims look where something was last taken, and from the beginning every few seconds.`,
    columns: [
      ['minute', 'minute'],
      ['', 'kind'],
      ['claim p50 / p99, ms', 'claimMs.p50 / claimMs.p99'],
      ['pages touched a claim', 'pagesPerClaim'],
      ['runs a second', 'runsPerSecond'],
      ['pickup p50 / p99, ms', 'pickupMs.p50 / pickupMs.p99'],
      ['waiting', 'backlog'],
      ['heartbeat, ms', 'heartbeatMs'],
    ],
  },
  {
    name: 'adoption',
    title: 'Runs in flight when a pod is killed',
    says: `As many runs as were in a slow call go on in the next process on the same disk. None of them repeats a recorded phase.`,
    columns: [
      ['runs', 'runs'],
      ['ready after, ms', 'readyMs'],
      ['all go on after, ms', 'goneOnMs'],
    ],
  },
  {
    name: 'local-runs',
    title: 'Local runs asleep',
    says: `Runs started by \`startLocal\` that sleep; the process is killed, and the next one opens the journal.`,
    columns: [
      ['runs', 'runs'],
      ['ready after, ms', 'readyMs'],
      ['memory then, MiB', 'readyMiB'],
      ['all shown to the fleet after, ms', 'knownMs'],
    ],
  },
  {
    name: 'pickup',
    title: 'Pods that wait for one task',
    says: `Tasks come one at a time, some 50 a second, to so many pods in at most four processes: in an idle fleet, and right after 20,000 tasks.
A notification calls a few pods; the others look later.`,
    columns: [
      ['pods', 'pods'],
      ['statements a second, idle', 'idleStatementsPerSecond'],
      ['pickup p50 / p99, ms', 'idle.p50 / idle.p99'],
      ['statements a task', 'idle.statementsPerTask'],
      ['after a busy phase, ms', 'afterBusy.p50 / afterBusy.p99'],
    ],
  },
  {
    name: 'heartbeats',
    title: 'Heartbeats',
    says: `Every pod beats once. The leader and those next in order are shown the whole fleet; the others themselves and those three.`,
    columns: [
      ['pods', 'pods'],
      ['bytes of all answers', 'bytesPerRound'],
      ['statement, ms', 'statementMs'],
    ],
  },
  {
    name: 'burst',
    title: 'A burst in the default queue',
    says: `20,000 tasks come within two seconds in the default queue, beside a few of each other kind; one pod of 64 slots.`,
    columns: [
      ['drained after, s', 'drainSeconds'],
      ['default queue p50 / p99, ms', 'during.default.p50 / during.default.p99'],
      ['own queue p50 / p99, ms', 'during.ownQueue.p50 / during.ownQueue.p99'],
      ['priority 1 p50 / p99, ms', 'during.priority.p50 / during.priority.p99'],
      ['one serial key p50 / p99, ms', 'during.serialKey.p50 / during.serialKey.p99'],
      ['turns of that key', 'serialTurns'],
    ],
  },
  {
    name: 'retention',
    title: 'Ended tasks that are kept',
    says: `250,000 tasks are old enough to go, beside so many that are kept. What is asked before each look is whether any is.`,
    columns: [
      ['kept', 'kept'],
      ['removed', 'removed'],
      ['in seconds', 'seconds'],
      ['the question, ms', 'question.meanMs'],
      ['pages it touches', 'question.pages'],
    ],
  },
  {
    name: 'retention-rate',
    title: 'Removal at the fastest rate',
    says: `Tasks end as fast as one pod can run them, and are kept for a minute. The leader looks every ten minutes, and removes until nothing that
is old is left.`,
    columns: [
      ['minute', 'minute'],
      ['runs a second', 'runsPerSecond'],
      ['ended tasks that are there', 'ended'],
      ['late, s', 'lateSeconds'],
      ['claim, mean ms', 'claimMs'],
    ],
  },
  {
    name: 'census',
    title: 'The leader’s census',
    says: `Every 15 s the leader counts what there is, for the metrics.`,
    columns: [
      ['rows', 'rows'],
      ['mean, ms', 'census.meanMs'],
      ['pages', 'census.pages'],
    ],
  },
];
