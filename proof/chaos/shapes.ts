/**
 * Machines of mixed shapes whose every phase writes into the outside ledger what it did: first the
 * effect, fsynced, then the answer. How long a phase takes is given by its subject, so that a kill
 * finds some runs inside a phase, some between two, and some parked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type * as Fleetq from '../../src/index.ts';
import { takes } from '../../test/support/any-schema.ts';
import type { Effect } from '../history/evidence.ts';

export const SHAPES = ['one', 'three', 'flaky', 'sleeping', 'handoff'] as const;
export type Shape = (typeof SHAPES)[number];

interface Subject {
  readonly subject: string;
}
type Context = Fleetq.StepContext<Subject, unknown>;
type Api = Pick<typeof Fleetq, 'defineMachine' | 'handoff'>;

export interface Book {
  /** Durable when it resolves. */
  write(line: object): Promise<void>;
  /** Safe from the end of the process. */
  note(line: object): void;
}

/** For machines that are only looked at. */
export const NO_BOOK: Book = { write: async () => undefined, note: () => undefined };

export class Scribe {
  readonly #ledger: Book;
  readonly #pod: string;
  readonly #now: () => number;
  #phase = '';
  #step = '';

  /** `now`: the true time, which is the database's too, whatever this process takes it for. */
  constructor(ledger: Book, pod: string, now: () => number = Date.now) {
    this.#ledger = ledger;
    this.#pod = pod;
    this.#now = now;
  }

  /** A handler alone cannot tell a probe from its `check`. */
  readonly around: Fleetq.Around = (of, call) => {
    this.#phase = of.phase;
    this.#step = of.step;
    return call();
  };

  /** To be called before the handler first awaits anything; durable when it resolves. */
  async write(context: Context, outcome: Effect['outcome'] = 'done'): Promise<void> {
    const { runId, attempt, idempotencyKey, fencingToken, input } = context;
    const [step, phase] = [this.#step, this.#phase];
    const isLooking = phase !== 'work' && phase !== 'persist';
    const [beforeMs, afterMs] = isLooking ? [0, 0] : spansOf(input.subject, phase);
    if (beforeMs > 0) await sleep(beforeMs);
    const line: Effect = {
      task: runId,
      subject: input.subject,
      step,
      phase,
      attempt,
      idempotencyKey,
      fencingToken,
      outcome,
      pod: this.#pod,
      at: this.#now(),
      ownAt: Date.now(),
    };
    if (!hasEffect(phase, outcome)) return this.#ledger.note(line);
    await this.#ledger.write(line);
    // The window in which the effect has happened and nobody knows: wide enough to be hit.
    await sleep(afterMs);
  }
}

const LONG_IN_A_HUNDRED = 3;
const MIDDLING_IN_A_HUNDRED = 25;

/** The others only look. */
function hasEffect(phase: string, outcome: Effect['outcome']): boolean {
  return phase === 'work' || phase === 'persist' || outcome === 'handed off';
}

/** How long a phase takes before its effect, and after it. */
function spansOf(subject: string, phase: string): readonly [number, number] {
  const number = Number(subject.slice(1)) * 7919 + phase.length * 104_729;
  const hundredth = number % 100;
  const afterMs = number % 61;
  if (hundredth < LONG_IN_A_HUNDRED) return [800 + (number % 1_700), afterMs];
  if (hundredth < MIDDLING_IN_A_HUNDRED) return [50 + (number % 250), afterMs];
  return [number % 30, afterMs];
}

/** Enough for any number of kills: exhaustion has tests of its own. */
const retry = { attemptMax: 10_000, backoff: () => 5 };

/** Made with the API of whoever runs them: of the tree, or of the copy that is put to the test. */
export function shapes(
  { defineMachine, handoff }: Api,
  scribe: Scribe,
  version = 1,
): Record<Shape, Fleetq.Machine<Subject>> {
  const input = takes<Subject>();
  const of = (name: Shape) => ({ name, version, input, retry });
  const phases = {
    check: (context: Context) => scribe.write(context),
    work: async (context: Context) => {
      await scribe.write(context);
      return { made: context.input.subject };
    },
    validate: (context: Context) => scribe.write(context),
    persist: async (context: Context) => {
      await scribe.write(context);
      return { kept: context.input.subject };
    },
  };
  return {
    one: defineMachine({ ...of('one'), ...phases }),
    three: defineMachine({
      ...of('three'),
      steps: (line) => line.step('pull', phases).step('unpack', phases).step('activate', phases),
    }),
    flaky: defineMachine({
      ...of('flaky'),
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
      ...of('sleeping'),
      steps: (line) =>
        line
          .step('before', { check: 'none', work: phases.work })
          .sleep('night', '6s')
          .step('after', phases),
    }),
    handoff: defineMachine({
      ...of('handoff'),
      check: async (context) => {
        await scribe.write(context, 'handed off');
        return handoff({ kept: context.input.subject }, 'it was there');
      },
      work: phases.work,
      persist: phases.persist,
    }),
  };
}

/** Mostly short ones, so that there are many; enough of the others to meet every fault. */
export function shapeOf(index: number): Shape {
  const place = (index * 37) % 100;
  if (place < 45) return 'one';
  if (place < 70) return 'three';
  if (place < 85) return 'flaky';
  return place < 95 ? 'sleeping' : 'handoff';
}
