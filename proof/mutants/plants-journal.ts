// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in the journal: what is acknowledged too early, and what is not noticed when it is gone. */
import { type Mutant, tests } from './mutant.ts';

const CONNECTION = 'src/journal/connection.ts';
const COMMIT = 'src/journal/group-commit.ts';
const JOURNAL = 'src/journal/sqlite-journal.ts';
const WRITER = 'src/journal/journal-writer.ts';

export const JOURNALS: readonly Mutant[] = [
  {
    name: 'acknowledged-before-the-write',
    breaks: 'a record is acknowledged before it is written (I12, I17)',
    changes: [
      {
        file: COMMIT,
        find: '      this.#waiting.push({ item, resolve, reject });\n      this.#schedule();',
        put: '      this.#waiting.push({ item, resolve, reject });\n      this.#schedule();\n      resolve(item);',
      },
    ],
    command: tests('test/journal/group-commit.test.ts'),
    shows: /nobody resumes before the batch is written/,
  },
  {
    name: 'synchronous-normal',
    breaks: 'a commit is acknowledged before the disk has it: a loss of power takes it back (I17)',
    changes: [
      { file: CONNECTION, find: "'synchronous = FULL'", put: "'synchronous = NORMAL'" },
      {
        file: CONNECTION,
        find: "assert(ask('synchronous') === 2,",
        put: "assert(ask('synchronous') !== 0,",
      },
    ],
    command: tests('test/journal/fsync-before-ack.e2e.test.ts', 'every one of 1,000'),
    shows: /is synced before any of its records is acknowledged/,
    isSlow: true,
  },
  {
    name: 'failed-commit-acknowledged',
    breaks: 'what a full disk did not take is acknowledged (I36)',
    changes: [
      {
        file: COMMIT,
        find: 'if (this.#ports.isItems(error)) this.#writeOneByOne(batch);\n      else this.#stall(error as Error);\n      return;',
        put: 'if (this.#ports.isItems(error)) return this.#writeOneByOne(batch);',
      },
    ],
    command: tests('test/journal/group-commit.test.ts'),
    shows: /while the disk is full all wait/,
  },
  {
    name: 'evidence-not-written',
    breaks: 'nobody knows which phases were running when the process died (I12)',
    changes: [
      {
        file: JOURNAL,
        find: '    this.#mark.occupy(occupancies);',
        put: '    this.#mark.occupy(occupancies.slice(occupancies.length));',
      },
    ],
    command: tests('test/journal/mark.test.ts'),
    shows: /after a SIGKILL the next process knows which runs were in a slot/,
  },
  {
    name: 'work-before-its-evidence',
    breaks: 'a phase begins before it is on record that it does (I12)',
    changes: [
      {
        file: 'src/engine/admission.ts',
        find: `    if (admitted.length > 0) this.#journal.occupy(admitted.map(occupancyOf));
    for (const run of admitted) this.#drive(run);`,
        put: `    for (const run of admitted) this.#drive(run);
    const late = admitted.filter(({ slot }) => slot !== undefined);
    if (late.length > 0) this.#journal.occupy(late.map(occupancyOf));`,
      },
    ],
    command: tests('test/engine/poison.e2e.test.ts'),
    shows: /a run that kills its process in its work ends after attemptMax deaths/,
    isSlow: true,
  },
  {
    name: 'mark-before-the-commit',
    breaks: 'the mark says that a commit is there which never was: a crash in it is a false alarm',
    changes: [
      {
        file: JOURNAL,
        find: '    try {\n      this.#writer.write(batch, this.#ended);',
        put: '    this.#mark.advance(this.#writer.lsn + batch.length);\n    try {\n      this.#writer.write(batch, this.#ended);',
      },
    ],
    command: tests('proof/crash-matrix/crash-commit.proof.test.ts'),
    shows: /buffered, half written or not yet synced go on as if nothing had happened/,
    isSlow: true,
  },
  {
    name: 'mark-not-compared',
    breaks: 'a journal that has lost its last records is taken for whole (I22)',
    changes: [
      {
        file: 'src/journal/evidence.ts',
        find: 'if (mark.lsn > head.lsn) {',
        put: 'if (mark.lsn < 0) {',
      },
    ],
    command: tests('test/journal/mark.test.ts'),
    shows: /a journal that has lost what the mark has seen says so/,
  },
  {
    name: 'chain-not-checked',
    breaks: 'a record that was changed on the disk is believed (I13, I22)',
    changes: [
      {
        file: 'src/journal/record.ts',
        find: 'if (sum !== row.hash) throw',
        put: 'if (sum === undefined) throw',
      },
    ],
    command: tests('test/journal/reading.test.ts'),
    shows: /a changed row, record or seal is reported as damage of that run/,
  },
  {
    name: 'timer-fires-twice',
    breaks: 'a timer that was handed out is handed out again (I31)',
    changes: [
      {
        file: WRITER,
        find: '      for (const run of due) disarmTimer.run(run);',
        put: "      for (const run of due) disarmTimer.run(`${run}'`);",
      },
    ],
    command: tests('test/journal/reading.test.ts'),
    shows: /timers are handed out when they are due, once/,
  },
  {
    name: 'timers-not-armed-again',
    breaks: 'after a restart nobody wakes those that sleep (I31)',
    changes: [
      {
        file: 'src/engine/engine.ts',
        find: 'if (!this.#runs.isDraining) this.#waits.start();',
        put: 'if (this.#runs.isDraining) this.#waits.start();',
      },
    ],
    command: tests('test/engine/timers.test.ts', 'a sleep survives crashes'),
    shows: /a sleep survives crashes/,
  },
  {
    name: 'live-run-pruned',
    breaks: 'retention takes the records of a run that goes on (I1)',
    changes: [
      {
        file: 'src/journal/journal.sql.ts',
        find: 'select id from runs where finished_at is not null and finished_at < ? order by',
        put: 'select id from runs where coalesce(finished_at, started_at) < ? order by',
      },
    ],
    command: tests('test/journal/reading.test.ts'),
    shows: /retention takes events first, rows later, and never anything of a live run/,
  },
];
