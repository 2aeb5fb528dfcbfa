/** Log lines of what happens between a pod and its fleet. What happens to every task is debug. */
import { type Lines, ofRun, ofTask } from './fields.ts';
import type { FleetEvents } from './fleet-events.ts';

/** Why a process waits that is not the first on its journal. */
export function awaitedText({ pod, name }: FleetEvents['pod.awaited']): string {
  return `pod ${pod} (${name}) had this journal, and was not heard since: waiting until it is swept`;
}

export const FLEET_LINES: Lines = {
  'pod.registered': (e) => ({
    level: 'info',
    message: 'pod joined the fleet',
    fields: { pod: e.pod, name: e.name, journal: e.journal, boot: e.boot },
  }),
  'pod.adopted': (e) => ({
    level: e.runs > 0 ? 'info' : 'debug',
    message: `pod took over ${e.runs} runs of ${e.pods} earlier lives`,
    fields: { pod: e.pod },
  }),
  'pod.alone': (e) => ({
    level: 'warn',
    message: 'store has not answered in time: no phase begins until it does',
    fields: { pod: e.pod, ...ofTask(e) },
  }),
  'pod.awaited': (e) => ({
    level: 'warn',
    message: awaitedText(e),
    fields: { journal: e.journal, pod: e.pod },
  }),
  'pod.rested': (e) => ({
    level: 'info',
    message: 'pod rests: it has nothing to do, and beats no more until it has',
    fields: {
      pod: e.pod,
      ...(e.wakeInMs === undefined ? {} : { wake_ms: Math.round(e.wakeInMs) }),
    },
  }),
  'pod.woke': (e) => ({
    level: 'info',
    message: 'pod rests no more, and the process goes on as another',
    fields: { pod: e.pod },
  }),
  'pod.died': (e) => ({
    level: 'error',
    message: `pod is dead, and the process goes on as another: ${e.why}`,
    fields: { pod: e.pod },
  }),
  'pod.draining': (e) => ({
    level: 'info',
    message: 'pod claims nothing any more',
    fields: { pod: e.pod, budget_ms: e.budgetMs },
  }),
  'pod.fenced': (e) => ({
    level: 'warn',
    message: 'pod was declared dead',
    fields: { dead_pod: e.pod, pod: e.by, silent_ms: Math.round(e.silentMs) },
  }),
  'sweep.took': (e) => ({
    level: 'info',
    message: `tasks of a pod that is no more go on elsewhere: ${e.runs.length}`,
    fields: { dead_pod: e.pod, pod: e.by, why: e.why, tasks: e.runs.length },
  }),
  'leader.changed': (e) => ({
    level: 'info',
    message: e.isLeader ? 'pod leads the fleet' : 'pod does not lead the fleet',
    fields: { pod: e.pod, leader: e.leader },
  }),
  'schedule.ticked': (e) => ({
    level: 'debug',
    message: `schedule put ${e.count} tasks in`,
    fields: { schedule: e.schedule, machine: e.machine, tasks: e.count },
  }),
  'schedule.skipped': (e) => ({
    level: 'info',
    message: `schedule left ${e.count} ticks out: the run before has not ended`,
    fields: { schedule: e.schedule, machine: e.machine, ticks: e.count, run: e.run },
  }),
  'schedule.troubled': (e, told) => ({
    level: 'warn',
    message: 'schedule could not do what it says; fleetq schedules show tells why',
    fields: { schedule: e.schedule, reason: told.words(e.reason) },
  }),
  'task.claimed': (e) => ({
    level: 'debug',
    message: 'task claimed',
    fields: { ...ofRun(e), records: e.records, waited_ms: e.waitedMs },
  }),
  'task.settled': (e) => ({
    level: 'debug',
    message: `task is ${e.to}`,
    fields: ofTask(e),
  }),
  'task.failed': (e) => ({
    level: 'error',
    message: 'task failed without a run, and is a dead letter',
    fields: { ...ofTask(e), machine: e.machine, outcome: e.outcome, dead_letter: true },
  }),
  'task.paused': (e) => ({
    level: 'info',
    message: e.isAsked ? 'task is given back, for somebody has paused it' : 'task is paused',
    fields: { ...ofTask(e), who: e.who },
  }),
  'task.resumed': (e) => ({
    level: 'info',
    message: 'task is resumed',
    fields: { ...ofTask(e), who: e.who },
  }),
  // Again and again while nobody can go on with it: the gauge counts them for everyday use.
  'task.blocked': (e, told) => ({
    level: 'debug',
    message: 'task is left to pods that can go on with it',
    fields: { ...ofTask(e), reason: told.words(e.reason) },
  }),
  'run.faulted': (e, told) => ({
    level: 'error',
    message: 'this pod failed to go on with a run, which is not the fault of the run',
    fields: { run: e.run, machine: e.machine, reason: told.words(e.reason) },
  }),
  'task.refused': (e, told) => ({
    level: 'error',
    message: 'task makes no sense here and is a dead letter',
    fields: {
      ...ofTask(e),
      machine: e.machine,
      reason: told.words(e.reason),
      dead_letter: true,
    },
  }),
  'claim.lost': (e) => ({
    level: 'warn',
    message: "task is another's by now: what was done with it since counts for nothing",
    fields: { ...ofTask(e), generation: e.generation, epoch: e.epoch, what: e.what },
  }),
  'store.failed': (e, told) => ({
    level: 'warn',
    message: `store failed at ${e.what}, which is tried again`,
    fields: { what: e.what, err: told.ownErr(e.error) },
  }),
  'store.failedOver': (e) => ({
    level: 'warn',
    message: 'another server of the store has taken over',
    fields: { from: e.from, to: e.to },
  }),
  'run.superseded': (e) => ({
    level: 'warn',
    message:
      "run went on without the store, and is another's by now: its result is kept, and counts for nothing",
    fields: { ...ofTask(e), generation: e.generation, epoch: e.epoch },
  }),
  'store.rewound': ({ pod, tasks, ...e }) => ({
    level: e.enqueuesLost + e.outcomesLost + e.outcomesOvertaken > 0 ? 'error' : 'warn',
    message: 'the server that took over had lost what was acknowledged',
    fields: {
      pod,
      enqueues_lost: e.enqueuesLost,
      outcomes_lost: e.outcomesLost,
      outcomes_overtaken: e.outcomesOvertaken,
      outcomes_written: e.outcomesWritten,
      claims_restored: e.claimsRestored,
      records_written: e.recordsWritten,
      tasks,
    },
  }),
  'traces.failed': (e, told) => ({
    level: 'warn',
    message: 'nobody takes the spans of this process: runs go on, their traces have gaps',
    fields: { err: told.ownErr(e.error) },
  }),
  'recovery.failed': (e, told) => ({
    level: 'error',
    message: `${e.chore} failed`,
    fields: { machine: e.chore, err: told.ownErr(e.error) },
  }),
  'fleet.outage': (e) => ({
    level: 'error',
    message:
      'more than half of the fleet is missing: its tasks are given back, and no crash is counted',
    fields: { missing: e.missing, pods: e.pods },
  }),
  'pod.faulted': (e, told) => ({
    level: 'error',
    message: `a defect of FleetQ in ${e.what}: the pod goes on without it`,
    fields: { pod: e.pod, err: told.ownErr(e.error) },
  }),
  'suspects.started': () => ({
    level: 'warn',
    message: 'tasks that have outlived two owners get a process of their own',
  }),
  'suspects.failed': (e, told) => ({
    level: 'error',
    message: 'a process for tasks that have outlived two owners could not be started',
    fields: { err: told.ownErr(e.error) },
  }),
  'suspects.unattended': () => ({
    level: 'error',
    message:
      'tasks that have outlived two owners are due, and this program cannot run them apart: ' +
      'name the files of its machines as `modules`',
  }),
};
