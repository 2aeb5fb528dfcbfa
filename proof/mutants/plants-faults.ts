/** Bugs in what a pod does about its own faults: its disk, its slots, its registration, its journal. */
import { type Mutant, tests } from './mutant.ts';

const faults = tests('test/fleet/pod-faults.test.ts');
const damaged = tests('test/journal/damaged-in-use.test.ts');
const standIn = tests('test/fleet/leader-stands-in.test.ts');

export const FAULTS: readonly Mutant[] = [
  {
    name: 'fault-of-the-pod-fails-the-task',
    breaks: 'a task is a dead letter since a pod could not take it (I43)',
    changes: [
      { file: 'src/fleet/acceptor.ts', find: 'if (!isFaultOfTask(error)) {', put: 'if (!error) {' },
    ],
    command: faults,
    shows: /a task that a pod fails to take goes back/,
  },
  {
    name: 'fault-of-the-pod-ends-the-run',
    breaks: 'a run ends since a pod could not write a record of it (I43)',
    changes: [
      {
        file: 'src/engine/engine.ts',
        find: 'if (run.tie && !isFaultOfRun(error))',
        put: 'if (run.tie && !error)',
      },
    ],
    command: faults,
    shows: /a record that a pod fails to write cuts the phase off/,
  },
  {
    name: 'damage-blamed-on-records',
    breaks: 'a bad page of the journal refuses each record, and every run is blamed for it (I43)',
    changes: [
      {
        file: 'src/journal/connection.ts',
        find: 'return !isSqlite(error) ||',
        put: 'return !isSqlite(error) || isCorrupt(error) ||',
      },
    ],
    command: damaged,
    shows: /a damaged leaf of events stalls the journal/,
  },
  {
    name: 'damage-forgotten',
    breaks: 'a large journal that is damaged refuses every record for ever, start after start',
    changes: [
      { file: 'src/journal/damage.ts', find: 'if (!isCorrupt(error)) return;', put: 'return;' },
    ],
    command: damaged,
    shows: /the next start puts the file aside/,
  },
  {
    name: 'stalled-pod-keeps-its-runs',
    breaks: 'runs wait for the disk of one pod, for as long as that is full (I43)',
    changes: [{ file: 'src/fleet/life.ts', find: '    this.#stall.look(this);\n', put: '' }],
    command: faults,
    shows: /a pod that cannot write its journal lets others have its runs/,
  },
  {
    name: 'stalled-pod-leads',
    breaks: 'a leader whose disk is full stops the recovery of its fleet (I26, I44)',
    changes: [{ file: 'src/store/pods.ts', find: ' && !pod.isStalled', put: '' }],
    command: standIn,
    shows: /a leader whose disk is full does not lead/,
  },
  {
    name: 'no-pod-stands-in',
    breaks: 'a leader that does not act stops the recovery of its fleet (I26, I44)',
    changes: [
      {
        file: 'src/fleet/leader.ts',
        find: 'watch.isTurnOf(life.id, nowMs)',
        put: 'watch.leader === life.id',
      },
    ],
    command: standIn,
    shows: /a leader that looks well and does not act is stood in for/,
  },
  {
    name: 'sweep-waits-for-a-slot',
    breaks: 'recovery waits behind the phases of users (I44)',
    changes: [
      {
        file: 'src/engine/admission.ts',
        find: 'const lane = this.#isUrgent(run.plan.name) ? this.#urgent : this.slots;',
        put: 'const lane = this.slots;',
      },
    ],
    command: standIn,
    shows: /a sweep waits for no slot/,
  },
  {
    name: 'refused-registration-leaks',
    breaks: 'each registration that is refused leaves a thread and a connection (I46)',
    changes: [
      {
        file: 'src/fleet/enter.ts',
        find: '  } catch (error) {\n    life.abandon();\n    throw error;',
        put: '  } catch (error) {\n    throw error;',
      },
    ],
    command: tests('test/fleet/join-refused.e2e.test.ts'),
    shows: /keeps one thread at most/,
  },
  {
    name: 'damaged-copy-ends-the-task',
    breaks: 'records that one disk has lost end the task, though the store has them (I43)',
    changes: [
      {
        file: 'src/engine/going-on.ts',
        find: `if (found.status === 'quarantined') throw new DamagedRunError(row.id, found.reason);`,
        put: `if (found.status === 'quarantined') return void tie.quarantined(found.reason);`,
      },
    ],
    command: tests('test/fleet/pod-faults.test.ts'),
    shows: /goes on from what is whole/,
  },
  {
    name: 'damaged-tail-archived',
    breaks: 'records that a disk has damaged become the records of the task (I43)',
    changes: [
      {
        file: 'src/fleet/adopter.ts',
        find: 'const proved = provedAfter(run, rows.slice(from), { seq: from - 1, hash });',
        put: 'const proved = rows.slice(from);',
      },
    ],
    command: tests('test/fleet/pod-faults.test.ts'),
    shows: /goes on from what is whole/,
  },
  {
    name: 'clones-start-at-once',
    breaks: 'of several clones whose original is gone each does its local runs (I45)',
    changes: [
      {
        file: 'src/fleet/rivals.ts',
        find: 'return elsewhere.length > 0;',
        put: 'return false;',
      },
    ],
    command: tests('test/fleet/rivals.test.ts'),
    shows: /of two clones that start when the original is gone one goes on/,
  },
  {
    name: 'silence-after-an-outage-is-death',
    breaks: 'a clone and its original both go on once the store is back (I45)',
    changes: [
      {
        file: 'src/fleet/rivals.ts',
        find: '      if (up.length === 0) return;',
        put: '      return;',
      },
    ],
    command: tests('test/fleet/rivals.test.ts'),
    shows: /after an outage the original goes on/,
  },
  {
    name: 'clone-outlives-its-original',
    breaks: 'a clone goes on as soon as its original is not heard (I45)',
    changes: [
      {
        file: 'src/fleet/rivals.ts',
        find: '    this.#ports.journal.owners.noteRival({ pod, name });\n',
        put: '',
      },
    ],
    command: tests('test/fleet/rivals.test.ts'),
    shows: /a process on a clone starts nothing/,
  },
  {
    name: 'put-aside-loses-its-name',
    breaks: 'rows of local runs wait for a journal that is no more, and end as failed (I43)',
    changes: [
      {
        file: 'src/journal/put-aside.ts',
        find: "const id = found.id ?? (typeof mark === 'object' ? mark.journalId : random.hex(16));",
        put: 'const id = random.hex(16);',
      },
    ],
    command: tests('test/fleet/pod-faults.test.ts'),
    shows: /is still the one whose local runs the fleet knows/,
  },
  {
    name: 'put-aside-forgets-who-was-inside',
    breaks: 'after a journal was put aside, what its process was inside of counts no attempt (I29)',
    changes: [
      {
        file: 'src/journal/put-aside.ts',
        find: 'unknownUntil: lsn, inherited }',
        put: 'unknownUntil: lsn, inherited: [] }',
      },
    ],
    command: tests('test/fleet/pod-faults.test.ts'),
    shows: /is still the one whose local runs the fleet knows/,
  },
];
