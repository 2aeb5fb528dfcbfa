/**
 * Machines beside those that the history is judged by: poison, which ends its own process, and tasks
 * that people cancel, put off and redrive while they run. They have ledgers and judges of their own.
 */
import type * as Fleetq from '../../src/index.ts';
import { takes } from '../../test/support/any-schema.ts';
import type { Scribe } from './shapes.ts';
import type { PoisonInput, Venom } from './venom.ts';

export const POISON = 'poison';
/** Those that end soon, and those that lie waiting for a while. */
export const STORMED = ['stormed', 'stormedSleeping'] as const;
export const ASIDE = [POISON, ...STORMED] as const;
export type Aside = (typeof ASIDE)[number];

interface Subject {
  readonly subject: string;
}
type Api = Pick<typeof Fleetq, 'defineMachine' | 'abort'>;

const retry = { attemptMax: 10_000, backoff: () => 5 };
/** One in so many of those that end soon ends as a dead letter, however often it is redriven. */
const HOPELESS_EVERY = 3;

export function isHopeless(subject: string): boolean {
  return Number(subject.slice(1)) % HOPELESS_EVERY === 0;
}

export function asideShapes(
  { defineMachine, abort }: Api,
  scribe: Scribe,
  venom: Venom | undefined,
  version = 1,
): Record<Aside, Fleetq.Machine<never>> {
  const of = <T>(name: Aside) => ({ name, version, input: takes<T>(), retry });
  const phases = {
    work: async (context: Fleetq.StepContext<Subject, unknown>) => {
      await scribe.write(context);
      return { made: context.input.subject };
    },
    persist: async (context: Fleetq.StepContext<Subject, unknown>) => {
      await scribe.write(context);
      return { kept: context.input.subject };
    },
  };
  return {
    poison: defineMachine({
      ...of<PoisonInput>('poison'),
      check: 'none',
      work: async (context) => {
        await scribe.write(context);
        venom?.act(context.input);
        return { made: context.input.subject };
      },
      persist: phases.persist,
    }),
    stormed: defineMachine({
      ...of<Subject>('stormed'),
      check: 'none',
      ...phases,
      validate: async (context) => {
        const isOver = isHopeless(context.input.subject);
        await scribe.write(context, isOver ? 'threw' : 'done');
        if (isOver) abort('it was never to be');
      },
    }),
    stormedSleeping: defineMachine({
      ...of<Subject>('stormedSleeping'),
      steps: (line) =>
        line
          .step('before', { check: 'none', work: phases.work })
          .sleep('night', '6s')
          .step('after', { check: 'none', ...phases }),
    }),
  };
}
