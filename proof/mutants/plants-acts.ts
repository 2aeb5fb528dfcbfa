// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in what people change: without its log, twice, to another task than was seen, and in vain. */
import { type Mutant, tests } from './mutant.ts';

const DECIDE = 'src/store/decide.ts';
const memory = (name: string) => tests('test/store/memory.test.ts', `^the memory store ${name}`);
const doing = memory('what people do');
const onPostgres = tests('test/store/postgres.store.test.ts', '^the postgres store what people do');

export const ACTS: readonly Mutant[] = [
  {
    name: 'act-without-audit',
    breaks: 'a change of people leaves no row in the audit log (I40)',
    changes: [
      {
        file: 'src/store/sqlite/act.ts',
        find: '  tx.run(sql.insertLogged, { ...words, now: tx.now });',
        put: '  if (words.id === "") tx.run(sql.insertLogged, { ...words, now: tx.now });',
      },
    ],
    command: tests('test/store/sqlite.test.ts', '^the sqlite store what people do'),
    shows: /I40: cancel/,
  },
  {
    name: 'act-twice-for-one-request',
    breaks: 'a request whose answer was lost is done again when it is sent again (I40)',
    changes: [
      {
        file: 'src/store/postgres/act.ts',
        find: '    logged: loggedOf(row),',
        put: '    logged: act.requestId === "" ? loggedOf(row) : undefined,',
      },
      {
        file: 'src/store/postgres/act.ts',
        find: '  if (logged.length === 0) throw',
        put: '  if (logged.length < 0) throw',
      },
    ],
    command: onPostgres,
    shows: /I40: /,
  },
  {
    name: 'revision-ignored',
    breaks: 'a task is changed that is not as its sender saw it (I40)',
    changes: [
      {
        file: DECIDE,
        find: 'return seen === undefined || seen === revisionOf(task)',
        put: "return seen !== '' || seen === revisionOf(task)",
      },
    ],
    command: doing,
    shows: /changed hands since it was seen/,
  },
  {
    name: 'paused-one-claimed',
    breaks: 'a task that is paused is given to a pod',
    changes: [
      {
        file: 'src/store/memory/claims.ts',
        find: '    !task.paused &&\n    task.runAt',
        put: '    task.runAt',
      },
    ],
    command: doing,
    shows: /claimed by nobody until it is resumed/,
  },
  {
    name: 'pause-forgotten-at-release',
    breaks: 'a run that was asked to pause goes on with the next owner',
    changes: [
      {
        file: 'src/store/postgres/step-tracker-settle.sql.ts',
        find: "paused = task.paused or (task.control = 'pause' and not ${hasEnded}) is true,",
        put: 'paused = task.paused,',
      },
    ],
    command: onPostgres,
    shows: /holds however its owner lets go of it/,
  },
  {
    name: 'pause-not-passed-on',
    breaks: 'an owner hears that its run is to pause, and goes on with it',
    changes: [
      {
        file: 'src/fleet/controls.ts',
        find: '    else if (engine.held.sendAway(task))',
        put: "    else if (control !== 'pause' && engine.held.sendAway(task))",
      },
    ],
    command: tests('test/fleet/pauses.test.ts'),
    shows: /finishes the phase in hand/,
  },
  {
    name: 'paused-one-adopted',
    breaks: 'whoever adopts a run that was asked to pause goes on with it',
    changes: [
      {
        file: 'src/store/memory/take.ts',
        find: 'task.crashes < SUSPECT_CRASHES && !isPaused) {',
        put: 'task.crashes < SUSPECT_CRASHES) {',
      },
    ],
    command: tests('test/fleet/pauses.test.ts'),
    shows: /begins no phase of it, and loses no record/,
  },
  {
    name: 'revision-blind-to-people',
    breaks: 'two who saw the same task both change it (I40)',
    changes: [
      {
        file: DECIDE,
        find: 'acts: counted(task.acts)',
        put: 'acts: task.acts',
      },
    ],
    command: memory('what people have seen'),
    shows: /of two who saw the same task only one changes it/,
  },
];
