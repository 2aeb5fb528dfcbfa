/** The commands of a fleet: pods, tasks, dead letters, migrations. */
import type { Command } from 'commander';
import type { SettingName } from '../config/index.ts';
import { type Add, LOOK_SETTINGS, STORE_SETTINGS } from './add-command.ts';
import { LIMIT_OTHERWISE } from './next-page.ts';
import { addActs, CURSOR, DRY_RUN, IF_REVISION, REQUEST_ID } from './program-acts.ts';
import { addBulk } from './program-bulk.ts';
import { addQueues } from './program-queues.ts';
import { addSchedules } from './program-schedules.ts';
import { addStore } from './program-store.ts';
import { addThrottles } from './program-throttles.ts';

const WORKER_SETTINGS: readonly SettingName[] = [
  ...(['dataDir', 'store', 'readStore', 'machines', 'slots', 'podName'] as const),
  ...(['heartbeat', 'silence'] as const),
  ...([
    'archive',
    'pooled',
    'listenUrl',
    'claimMode',
    'poolSize',
    'changedMachines',
    'healthListen',
    'listen',
    'drainBudget',
    'handover',
    'logLevel',
  ] as const),
];

export function addFleet(program: Command, add: Add): void {
  add(
    'worker',
    'Execute runs: those of the data directory, and of the fleet where a store is configured.',
    async () => (await import('./worker/worker.ts')).worker,
    WORKER_SETTINGS,
  )
    .option(
      '--pods <count>',
      'so many processes, each in <data-dir>/pod-N, restarted when they die',
    )
    .addHelpText('after', WORKER_HELP);
  addTasks(add);
  addActs(add);
  addPods(add);
  addPlan(add);
  addDrain(add);
  addDeadLetters(program, add);
  addBulk(program, add);
  addQueues(program, add);
  addSchedules(program, add);
  addThrottles(program, add);
  addStore(program, add);
}

function addTasks(add: Add): void {
  add(
    'enqueue <machine>',
    'Give a task, or a file of them, to the fleet.',
    async () => (await import('./fleet/enqueue.ts')).enqueue,
    [...STORE_SETTINGS, 'machines'],
  )
    .option('--input <json|@file|->', 'the input: JSON, @ and a file, or - for stdin')
    .option('--file <path|->', 'many: one {"input":…,"key":…} a line')
    .option('--key <key>', 'tasks with one key and input are one task')
    .option('--priority <number>', 'higher goes first; 0 where nothing is said')
    .option('--run-at <when>', "due after a duration such as '10m', or at a time with its zone")
    .option('--queue <name>', "'default' where nothing is said")
    .option('--serial-key <key>', 'tasks of one queue with one serial key run one after the other')
    .option('--retries-max <count>', 'an extra cap on failures, beside that of the machine')
    .option('--after <run>', 'wait until that run has ended')
    .option('--on <end>', 'success, by default, or end: what --after waits for')
    .option('--trace-parent <context>', "whose trace it is wanted by; TRACEPARENT's by default")
    .option('--wait', 'wait until it has ended, and print its output')
    .option('--timeout <duration>', "how long --wait waits, such as '30s'")
    .option('--dry-run', 'check the input, and enqueue nothing')
    .addHelpText('after', ENQUEUE_HELP);
  add(
    'wait <task>',
    'Wait until a task has ended, and print its output.',
    async () => (await import('./fleet/wait.ts')).wait,
    STORE_SETTINGS,
  ).option('--timeout <duration>', "how long, such as '30s'; for ever where nothing is said");
  add(
    'reschedule <task>',
    'Change when a task is due that nobody holds.',
    async () => (await import('./fleet/reschedule.ts')).reschedule,
    STORE_SETTINGS,
  )
    .option('--run-at <when>', "after a duration such as '10m', or at a time with its zone")
    .option(...DRY_RUN)
    .option(...IF_REVISION)
    .option(...REQUEST_ID);
}

function addPods(add: Add): void {
  const settings: readonly SettingName[] = [...STORE_SETTINGS, 'silence'];
  add(
    'pods',
    'List pods, oldest first, with what each holds.',
    async () => (await import('./fleet/pods.ts')).pods,
    settings,
  ).option('--all', 'also those that are down');
  add(
    'leader',
    'Say who leads: the oldest pod that is up and was heard of lately.',
    async () => (await import('./fleet/pods.ts')).leader,
    [...LOOK_SETTINGS, 'silence'],
  )
    .option('--history', 'who led, since when, newest first')
    .option('--limit <count>', 'with --history, at most so many', LIMIT_OTHERWISE);
  add(
    'sweep',
    'Give back to the fleet what dead pods left behind.',
    async () => (await import('./fleet/sweep.ts')).sweep,
    ['dataDir', ...settings],
  )
    .option('--dry-run', 'only say who is missing')
    .addHelpText('after', SWEEP_HELP);
}

function addPlan(add: Add): void {
  add(
    'machines',
    'List the versions that are live in the fleet: pods, runs, and what is blocked.',
    async () => (await import('./fleet/versions.ts')).machines,
    [...STORE_SETTINGS, 'machines'],
  ).option('--all', 'also versions that no pod has and no run stands under');
  add(
    'plan',
    'Say what would become of each run in flight if every pod had these machines.',
    async () => (await import('./fleet/plan.ts')).plan,
    ['dataDir', ...STORE_SETTINGS, 'machines'],
  )
    .option('--sample [count]', 'try the upgrades of so many runs of a machine (100), or of all')
    .option('--out <file>', 'write one JSON object a line, for every run')
    .option('--staying <names>', 'pods that are not deployed, with commas between them')
    .addHelpText('after', PLAN_HELP);
}

function addDrain(add: Add): void {
  add(
    'drain [pod]',
    'Ask a pod, by name or id, to finish what it has in hand, give the rest back, and end.',
    async () => (await import('./fleet/drain.ts')).drain,
    ['dataDir', ...STORE_SETTINGS],
  )
    .option('--wait', 'wait until it is down, and say how far it is')
    .option('--timeout <duration>', "how long --wait waits, such as '30s'")
    .option('--dry-run', 'only say what it holds')
    .addHelpText('after', DRAIN_HELP);
}

function addDeadLetters(program: Command, add: Add): void {
  add(
    'errors [filter...]',
    'Put failures together by what is the same about them, the most frequent first.',
    async () => (await import('./fleet/error-groups.ts')).errors,
    LOOK_SETTINGS,
  )
    // A term that begins with a minus is no option.
    .allowUnknownOption()
    .option('--limit <count>', 'at most so many', LIMIT_OTHERWISE)
    .addHelpText('after', ERRORS_HELP);
  const letters = program
    .command('dead-letters')
    .helpCommand(false)
    .description('Tasks that failed for good: look at them, try them again, or put them away.');
  const load = () => import('./fleet/dead-letters.ts');
  add('list', 'List them, newest first.', async () => (await load()).list, LOOK_SETTINGS, letters)
    .option('--machine <name>', 'only tasks of this machine')
    .option('--limit <count>', 'at most so many', LIMIT_OTHERWISE)
    .option('--before <task>', 'only tasks older than this one')
    .option(...CURSOR);
  add(
    'show <task>',
    'Show one, with its records.',
    async () => (await load()).showOne,
    STORE_SETTINGS,
    letters,
  );
  add(
    'redrive [tasks...]',
    'Let them go on, as a new generation, from the step they failed in.',
    async () => (await load()).redrive,
    ['dataDir', ...STORE_SETTINGS],
    letters,
  )
    .option('--machine <name>', 'all dead letters of this machine')
    .option('--fresh', 'from its beginning, with new idempotency keys')
    .option('--generation <number>', 'only if it is still at this one')
    .option(...DRY_RUN)
    .option(...IF_REVISION)
    .option(...REQUEST_ID)
    .addHelpText('after', REDRIVE_HELP);
  add(
    'discard <task>',
    'Put it away: kept until retention, listed no longer.',
    async () => (await load()).discard,
    STORE_SETTINGS,
    letters,
  )
    .option('--generation <number>', 'only if it is still at this one')
    .option(...DRY_RUN)
    .option(...IF_REVISION)
    .option(...REQUEST_ID);
}

const PLAN_HELP = `
continues   its version is there
advances    a newer version goes on where it stands: its line begins with the recorded phases
upgrades    a newer version has an upgrade for it; without --sample that is not tried
blocked     none of these: it waits, unharmed, for a pod that has its version
ends        its records have ended, which the next pod tells the store
fails       no pod could go on with its row or its records: it becomes a dead letter

A run REPEATS a phase that a pod is inside right now, work or persist, if it does not finish within the
drain budget: the next pod asks check first, and calls the phase again unless that hands off. Nothing
that is on record is done again.

Nothing is written. Exit 9 where a run would be blocked or fail, or a machine was changed under its
version.

Examples:
  fleetq plan --machines ./next/machines
  fleetq plan --machines ./next/machines --sample all --out plan.jsonl --json
`;
const WORKER_HELP = `
SIGTERM or Ctrl-C drains: phases in hand finish within the budget, other pods take the rest, exit 0.
A second one ends it at once.

With --handover it takes over from the process that holds its directory: it gets everything ready, asks
that one to drain, and goes on with its runs the moment it lets go. What is wrong with the new code is
found out before that, and the other goes on.

Examples:
  fleetq worker --handover 60s
  fleetq worker --store postgres://app@db/fleet --health-listen :9090
  fleetq worker --store sqlite:./fleet.db --pods 4
`;
const ENQUEUE_HELP = `
A line of --file is {"input":…}, and may have "key", "priority", "runAt", "queue" and "serialKey". What was
enqueued before a line that is refused stays; with keys the whole file may be sent again.

Examples:
  fleetq enqueue hello --input '{"name":"Ada"}' --wait
  fleetq enqueue hello --file names.jsonl --priority 5
`;
const ERRORS_HELP = `
All terms of a filter have to hold; docs/reference/filter.md has all of them.

Examples:
  fleetq errors machine:image/* 'created:<1d' --json
`;
const REDRIVE_HELP = `
One task is redriven at once. Several, or all of a machine, are given to a pod that runs on this host,
below the data directory, as runs of recovery/redrive, which go on whatever becomes of this command.
Where none does, the command redrives them itself; called again it does what is left. Very many are for
fleetq bulk begin redrive, which needs no pod on this host and keeps to a rate.
`;
const DRAIN_HELP = `
It is asked through the store, wherever it runs, and learns it from its next heartbeat; at once where it
runs on this host, below the data directory. Then it drains as on SIGTERM and ends with 0; whatever keeps
it up (--pods, systemd, Kubernetes) starts it anew, with the code that is there by then. Without a pod's
name the process that holds the data directory is asked, which needs no store.

Examples:
  fleetq drain alder-2 --wait
`;
const SWEEP_HELP = `
Where the leader runs on this host, below the data directory, it is asked to sweep. Otherwise only
pods that were fenced before are swept, and claims whose owner is gone: whether a silent pod is dead
can only be told by a pod that has watched it.
`;
