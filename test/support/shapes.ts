/**
 * Five machines, one for each way a run can go, whose every phase writes into the outside ledger
 * what it did. The effect comes first and the answer after it, as in real handlers.
 */
import type { Around, Machine, StepContext } from '../../src/index.ts';
import { defineMachine, handoff } from '../../src/index.ts';
import { takes } from './any-schema.ts';

export const SHAPES = ['one', 'three', 'handoff', 'flaky', 'sleeping'] as const;
export type Shape = (typeof SHAPES)[number];

export interface Subject {
  readonly subject: string;
}

type Context = StepContext<Subject, unknown>;
const input = takes<Subject>();
/** Enough for any number of kills: exhaustion has tests of its own. */
const retry = { attemptMax: 10_000, backoff: () => 2 };

/** Says what is being executed; a handler alone cannot tell a probe from its `check`. */
export class Scribe {
  readonly #ledger: { write(line: object): void | Promise<void> };
  #phase = '';
  #step = '';

  constructor(ledger: { write(line: object): void | Promise<void> }) {
    this.#ledger = ledger;
  }

  readonly around: Around = (of, call) => {
    this.#phase = of.phase;
    this.#step = of.step;
    return call();
  };

  /** To be called before the handler first awaits anything; durable when it is done. */
  write(context: Context, outcome = 'done'): void | Promise<void> {
    const { runId, attempt, idempotencyKey, fencingToken } = context;
    return this.#ledger.write({
      run: runId,
      step: this.#step,
      phase: this.#phase,
      attempt,
      idempotencyKey,
      fencingToken,
      outcome,
      subject: context.input.subject,
    });
  }
}

export function shapes(scribe: Scribe): Record<Shape, Machine<Subject>> {
  const phases = {
    check: async (context: Context) => {
      await scribe.write(context);
    },
    work: async (context: Context) => {
      await scribe.write(context);
      return { made: context.input.subject };
    },
    validate: async (context: Context) => {
      await scribe.write(context);
    },
    persist: async (context: Context) => {
      await scribe.write(context);
      return { kept: context.input.subject };
    },
  };
  return {
    one: defineMachine({ name: 'one', version: 1, input, retry, ...phases }),
    three: defineMachine({
      name: 'three',
      version: 1,
      input,
      retry,
      steps: (line) => line.step('pull', phases).step('unpack', phases).step('activate', phases),
    }),
    handoff: defineMachine({
      name: 'handoff',
      version: 1,
      input,
      retry,
      check: async (context) => {
        await scribe.write(context, 'handed off');
        return handoff({ kept: context.input.subject }, 'it was there');
      },
      work: phases.work,
      persist: phases.persist,
    }),
    flaky: defineMachine({
      name: 'flaky',
      version: 1,
      input,
      retry,
      ...phases,
      work: async (context) => {
        await scribe.write(context, context.attempt === 1 ? 'threw' : 'done');
        if (context.attempt === 1) throw new Error('the first attempt fails');
        return { made: context.input.subject };
      },
      validate: async (context) => {
        await scribe.write(context, context.attempt === 2 ? 'threw' : 'done');
        if (context.attempt === 2) throw new Error('the second attempt is no good');
      },
    }),
    sleeping: defineMachine({
      name: 'sleeping',
      version: 1,
      input,
      retry,
      steps: (line) =>
        line
          .step('before', { check: 'none', work: phases.work })
          .sleep('night', '20s')
          .step('after', phases),
    }),
  };
}
