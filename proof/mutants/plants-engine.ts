/** Bugs in how runs go on: what is asked before a phase is repeated, and what counts as an attempt. */
import { type Mutant, tests } from './mutant.ts';

const interruption = tests('test/engine/interruption.test.ts');

export const ENGINES: readonly Mutant[] = [
  {
    name: 'interruption-not-counted',
    breaks: 'a run that kills its process does so for ever (I29)',
    changes: [
      {
        file: 'src/machine/run-state.ts',
        find: 'attempt: state.attempt + (event.isFree ? 0 : 1),',
        put: 'attempt: state.attempt + (event.isFree ? 0 : 0),',
      },
    ],
    command: interruption,
    shows: /an interrupted phase is an attempt/,
  },
  {
    name: 'interruption-not-noticed',
    breaks: 'a phase that was cut off is repeated without asking whether it has happened (I41)',
    changes: [
      {
        file: 'src/engine/resume.ts',
        find: '  return !hasLeft || seqAtSlot === last.seq;',
        put: '  return hasLeft && seqAtSlot === last.seq;',
      },
    ],
    command: interruption,
    shows: /an interrupted phase is an attempt, and check is asked/,
  },
  {
    name: 'interruption-without-probe',
    breaks: 'an interruption is counted, and the work repeated without a look at it (I41)',
    changes: [
      {
        file: 'src/machine/run-state.ts',
        find: '        attempt: state.attempt + (event.isFree ? 0 : 1),\n        dueAt: undefined,\n        mustProbe: canProbe(plan, at),',
        put: '        attempt: state.attempt + (event.isFree ? 0 : 1),\n        dueAt: undefined,\n        mustProbe: false,',
      },
    ],
    command: interruption,
    shows: /an interrupted phase is an attempt, and check is asked/,
  },
  {
    name: 'retry-without-probe',
    breaks: 'a retry after a throw does not ask whether the work has happened (I41)',
    changes: [
      {
        file: 'src/machine/run-state.ts',
        find: 'undefined : state.work,\n        mustProbe: canProbe(plan, at),',
        put: 'undefined : state.work,\n        mustProbe: false,',
      },
    ],
    command: interruption,
    shows: /a retry after a throw asks check first|a probe that throws is a failed attempt/,
  },
  {
    name: 'drain-costs-an-attempt',
    breaks: 'a deploy counts against the run that it interrupts',
    changes: [
      {
        file: 'src/engine/perform.ts',
        find: "return { type: 'INTERRUPTED', isFree: true };",
        put: "return { type: 'INTERRUPTED' };",
      },
    ],
    command: tests('test/engine/drain.test.ts', 'costs no attempt'),
    shows: /that costs no attempt, and check is asked/,
  },
  {
    name: 'idempotency-key-changes',
    breaks: 'what is to be the same over retries and restarts is another for each attempt',
    changes: [
      {
        file: 'src/engine/phase-context.ts',
        find: '      this.#run.tie?.keyGeneration,',
        put: '      (this.#run.tie?.keyGeneration ?? 1) * this.attempt,',
      },
    ],
    command: tests('test/engine/context.test.ts'),
    shows: /the idempotency key is one for each phase, step and run/,
  },
  {
    name: 'fencing-token-stays',
    breaks: 'whoever takes a run over shows the token of its predecessor (I7)',
    changes: [
      {
        file: 'src/engine/phase-context.ts',
        find: 'this.fencingToken = run.epoch;',
        put: 'this.fencingToken = Math.min(run.epoch, 1);',
      },
    ],
    command: tests('test/engine/context.test.ts'),
    shows: /the fencing token rises with every process/,
  },
  {
    name: 'retries-without-jitter',
    breaks: 'failures of one moment come back in one moment (I32)',
    changes: [
      {
        file: 'src/ground/backoff.ts',
        find: 'return delayMs * (0.5 + fraction / 2);',
        put: 'return delayMs * (1 + fraction * 0);',
      },
    ],
    command: tests('test/engine/retries.test.ts', 'spread by jitter'),
    shows: /failures of one moment are spread by jitter/,
  },
  {
    name: 'one-attempt-too-many',
    breaks: 'a run that fails is tried once more than its machine allows (I32)',
    changes: [
      {
        file: 'src/engine/judge.ts',
        find: 'if (attempt >= policy.attemptMax)',
        put: 'if (attempt > policy.attemptMax)',
      },
    ],
    command: tests('test/engine/retries.test.ts', 'fails for good'),
    shows: /a run fails for good after attemptMax attempts/,
  },
  {
    name: 'late-answer-counts',
    breaks: 'what a handler answers after the cancel becomes the outcome (I4)',
    changes: [
      {
        file: 'src/engine/engine.ts',
        find: 'if (!event || (!isOurs(run) && !run.prepared)) {',
        put: 'if (!event) {',
      },
    ],
    command: tests('test/engine/cancel.test.ts'),
    shows: /a cancel in the very moment of the answer gives one outcome/,
  },
];
