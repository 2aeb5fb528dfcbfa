// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in how a step persists in the store: its fence, and what is made of a commit in doubt. */
import { type Mutant, tests } from './mutant.ts';

const STATEMENTS = 'src/store/postgres/persisting.sql.ts';
const TX = 'src/fleet/persist-tx.ts';
const CALL = 'src/engine/phase-call.ts';
const RECORDER = 'src/engine/recorder.ts';
const fenced = tests(
  'test/store/persisting.store.test.ts',
  'writes nothing, though its run goes on',
);
const looked = tests('test/store/persisting.store.test.ts', 'is settled by looking');
const doubted = tests(
  'test/fleet/persist-in-store.store.test.ts',
  'commits in doubt are made once',
);
const TAKEN = /writes nothing, though its run goes on/;
const ONCE = /commits in doubt are made once/;

export const PERSISTS: readonly Mutant[] = [
  {
    name: 'persist-without-epoch',
    breaks: 'what a former owner persists is written beside what the present one does (I5)',
    changes: [
      { file: STATEMENTS, find: ' and task.claim_epoch = $4::bigint\n       and', put: ' and' },
    ],
    command: fenced,
    shows: TAKEN,
  },
  {
    name: 'persist-without-pod-fence',
    breaks: 'a pod that was taken for dead persists (I8)',
    changes: [{ file: STATEMENTS, find: '      from fence\n', put: '' }],
    command: fenced,
    shows: TAKEN,
  },
  {
    name: 'sqlite-persist-without-epoch',
    breaks: 'what a former owner persists is written beside what the present one does (I5)',
    changes: [
      {
        file: 'src/store/sqlite/persisting.sql.ts',
        find: 'and generation = @generation and claim_epoch = @epoch\n     and claimed_by',
        put: 'and generation = @generation\n     and claimed_by',
      },
    ],
    command: fenced,
    shows: TAKEN,
  },
  {
    name: 'doubt-looked-at-too-soon',
    breaks: 'a commit that is still on its way is taken for one that never comes',
    changes: [
      { file: STATEMENTS, find: '$4::bigint\n     for no key update`', put: '$4::bigint`' },
    ],
    command: looked,
    shows: /is settled by looking: late/,
  },
  {
    name: 'doubt-taken-for-failure',
    breaks: 'what was committed, and whose answer was lost, is done again (I5)',
    changes: [
      {
        file: TX,
        find: "return answer === 'doubt' ? this.#settle(persisted, isOver) : answer;",
        put: "if (answer === 'doubt') throw new CommitLostError();\n    return answer;",
      },
    ],
    command: doubted,
    shows: ONCE,
  },
  {
    name: 'doubt-taken-for-done',
    breaks: 'what never was committed is on record as done',
    changes: [
      {
        file: TX,
        find: "return answer === 'doubt' ? this.#settle(persisted, isOver) : answer;",
        put: "return answer === 'doubt' ? 'stood' : answer;",
      },
    ],
    command: doubted,
    shows: ONCE,
  },
  {
    name: 'given-up-while-it-commits',
    breaks: 'a time limit that passes while a persist is in doubt makes a failure of what was done',
    changes: [
      {
        file: CALL,
        find: 'this.#isHeld = true;\n    this.#cancelTimer?.();',
        put: '',
      },
    ],
    command: doubted,
    shows: ONCE,
  },
  {
    name: 'persisted-record-made-anew',
    breaks: 'the record on disk is another than the one in the store (I13)',
    changes: [
      {
        file: RECORDER,
        find: 'this.#append(run, entry, prepared?.written)',
        put: 'this.#append(run, entry)',
      },
    ],
    command: tests('test/fleet/persist-in-store.store.test.ts', '^Postgres a run of several steps'),
    shows: /a run of several steps goes on from there/,
  },
];
