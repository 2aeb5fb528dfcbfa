/** Log lines of what happens between a pod and its fleet. What happens to every task is debug. */
import { errOf, type Lines } from './fields.ts';

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
    fields: { pod: e.pod, run_id: e.run },
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
  'leader.changed': (e) => ({
    level: 'info',
    message: e.isLeader ? 'pod leads the fleet' : 'pod does not lead the fleet',
    fields: { pod: e.pod, leader: e.leader },
  }),
  'task.claimed': (e) => ({
    level: 'debug',
    message: 'task claimed',
    fields: {
      run_id: e.run,
      machine: e.machine,
      machine_version: e.version,
      epoch: e.epoch,
      records: e.records,
    },
  }),
  'task.settled': (e) => ({
    level: 'debug',
    message: `task is ${e.to}`,
    fields: { run_id: e.run },
  }),
  // Again and again while nobody can go on with it: the gauge counts them for everyday use.
  'task.blocked': (e) => ({
    level: 'debug',
    message: 'task is left to pods that can go on with it',
    fields: { run_id: e.run, reason: e.reason },
  }),
  'task.refused': (e) => ({
    level: 'error',
    message: 'task makes no sense here and is a dead letter',
    fields: { run_id: e.run, machine: e.machine, reason: e.reason, dead_letter: true },
  }),
  'claim.lost': (e) => ({
    level: 'warn',
    message: "task is another's by now: what was done with it since counts for nothing",
    fields: { run_id: e.run, generation: e.generation, epoch: e.epoch, what: e.what },
  }),
  'store.failed': (e) => ({
    level: 'warn',
    message: `store failed at ${e.what}, which is tried again`,
    fields: { what: e.what, err: errOf(e.error) },
  }),
  'store.failedOver': (e) => ({
    level: 'warn',
    message: 'another server of the store has taken over',
    fields: { from: e.from, to: e.to },
  }),
  'recovery.failed': (e) => ({
    level: 'error',
    message: `${e.chore} failed`,
    fields: { machine: e.chore, err: errOf(e.error) },
  }),
  'fleet.outage': (e) => ({
    level: 'error',
    message:
      'more than half of the fleet is missing: its tasks are given back, and no crash is counted',
    fields: { missing: e.missing, pods: e.pods },
  }),
  'suspects.started': () => ({
    level: 'warn',
    message: 'tasks that have outlived two owners get a process of their own',
  }),
  'suspects.unattended': () => ({
    level: 'error',
    message:
      'tasks that have outlived two owners are due, and this program cannot run them apart: ' +
      'name the files of its machines as `modules`',
  }),
};
