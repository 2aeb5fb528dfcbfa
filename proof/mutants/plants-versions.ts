/** Bugs of deploys: runs that come under another version, or under none that is here. */
import { type Mutant, tests, testsOfBuilt, tool } from './mutant.ts';

const GUESS = [
  {
    file: 'src/machine/fold.ts',
    find: '  if (state.at !== recorded) {',
    put: '  if (state.at.length < 0) {',
  },
  {
    file: 'src/machine/fold.ts',
    find: '    if (next?.at !== record.state) {',
    put: '    if (!next || next.at.length < 0) {',
  },
];
const UNRECORDED = [
  {
    file: 'src/engine/heir.ts',
    find: '  await recorder.record(run, isOwed ? { ...event, interruption } : event);\n',
    put: '  void [recorder, isOwed, interruption];\n',
  },
];

/** Which of the faults it found is in its message. */
const ROLLED = /a fleet that is rolled to new code and back loses, repeats, mistakes and punishes/;

export const VERSIONS: readonly Mutant[] = [
  {
    name: 'advances-by-guess',
    breaks: 'a newer line goes on with a run, wherever its records have led (I33)',
    changes: GUESS,
    command: tests('test/engine/changed-code.test.ts'),
    shows: /a run meets its own step deleted: it stands still/,
  },
  {
    name: 'advances-by-guess-in-real-processes',
    breaks: 'and a fleet that is rolled runs phases of a definition that the run is not of (I33)',
    changes: GUESS,
    command: testsOfBuilt('proof/deploys/roll.proof.test.ts'),
    shows: ROLLED,
    isSlow: true,
  },
  {
    name: 'moves-without-a-record',
    breaks: 'a newer version goes on with a task, and nothing on record says so (I33)',
    changes: UNRECORDED,
    command: tests('test/fleet/versions.test.ts'),
    shows: /newer code on the same disk goes on with the phases on record/,
  },
  {
    name: 'moves-without-a-record-in-real-processes',
    breaks: 'and phases were run of a version that the history does not know (I33)',
    changes: UNRECORDED,
    command: testsOfBuilt('proof/deploys/roll.proof.test.ts'),
    shows: ROLLED,
    isSlow: true,
  },
  {
    name: 'deploys-count-attempts',
    breaks: 'a run that a drain gives back is charged a retry for it',
    changes: [
      {
        file: 'src/fleet/held-run.ts',
        find: '      retriesAdd: this.#retries,\n      hasCompletedStep: this.#hasCompletedStep,\n      version: this.version,\n    };',
        put: '      retriesAdd: this.#retries + 1,\n      hasCompletedStep: this.#hasCompletedStep,\n      version: this.version,\n    };',
      },
    ],
    command: testsOfBuilt('proof/deploys/roll.proof.test.ts'),
    shows: ROLLED,
    isSlow: true,
  },
  {
    name: 'goes-back-to-an-older-version',
    breaks: 'a run that has advanced is gone on with by the version it was born with (I33)',
    changes: [
      {
        file: 'src/machine/fold.ts',
        find: `event.type === 'ADVANCED' && event.version > plan.version`,
        put: `event.type === 'ADVANCED' && event.version < 0`,
      },
    ],
    command: tests('test/machine/succession.test.ts'),
    shows: /an older version never goes on with a run/,
  },
  {
    name: 'claims-what-it-lacks',
    breaks: 'a pod claims tasks of versions newer than its own (I33)',
    changes: [
      {
        file: 'src/fleet/routes.ts',
        find: 'newest !== undefined && version < newest.version',
        put: 'newest !== undefined && version > 0',
      },
      { file: 'src/fleet/routes.ts', find: '  return version > 1;', put: '  return version > 0;' },
    ],
    command: tool(
      'proof/main.ts',
      'simulate',
      '--small',
      '--seeds',
      '60',
      '--from',
      '6000',
      '--first',
    ),
    shows: /I33: .* was given .*@2/,
    isSlow: true,
  },
  {
    name: 'wakes-what-it-gives-back',
    breaks:
      'code that cannot run a task settles it at its last record, and its sleep is over (I31)',
    changes: [
      {
        file: 'src/fleet/held-run.ts',
        find: '...(isUntouched ? this.#left : undefined), isUntouched',
        put: 'isUntouched',
      },
    ],
    command: tests('test/fleet/new-code.test.ts'),
    shows: /I31: what sleeps is not woken/,
  },
  {
    name: 'earlier-life-forgotten',
    breaks: 'a drain forgets what an earlier life of its pod was inside of (I41)',
    changes: [
      {
        file: 'src/engine/last-words.ts',
        find: '  journal.occupy(open.map(([run, seq], index) => ({ slot: from + index, run, seq })));\n',
        put: '  void [open, from];\n',
      },
    ],
    command: tests('test/fleet/left.test.ts', '^I41: what a pod was inside of'),
    shows: /is probed after its next life has drained/,
  },
  {
    name: 'fails-what-a-newer-build-wrote',
    breaks: 'a task with records of a newer FleetQ is a dead letter of the older one (I34)',
    changes: [
      {
        file: 'src/fleet/acceptor.ts',
        find: 'if (error instanceof UnknownRecordError) {',
        put: 'if (error instanceof UnknownRecordError && held.isMirror) {',
      },
    ],
    command: tests('test/journal/former-build.test.ts'),
    shows: /a task with such a record is left to pods that know it/,
  },
  {
    name: 'shown-under-its-former-version',
    breaks: 'a run of a host that woke to a newer version is shown under the older one',
    changes: [
      {
        file: 'src/fleet/mirror.ts',
        find: '|| written.some(({ event }) => MOVES.has(event))',
        put: '|| written.every(({ event }) => MOVES.has(event))',
      },
    ],
    command: tests('test/fleet/versions.test.ts'),
    shows: /so is one that slept when it was adopted/,
  },
];
