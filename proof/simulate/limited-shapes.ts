/**
 * Machines whose runs have a deadline: one that most runs miss, one that few miss, and one that nothing
 * else can end. Deadlines come inside a phase, in a short wait, in a long one that is parked, and between
 * two owners.
 */
import {
  defineMachine,
  type Machine,
  type Plan,
  planOf,
  retryAfter,
} from '../../src/machine/index.ts';
import { checkFor, delayMs, input, napMs, publish, retry, takeTime } from './shapes.ts';

const HASTY_MS = 3_000;
const PATIENT_MS = 15_000;
const RESTLESS_MS = 9_000;

const hasty = defineMachine({
  name: 'hasty',
  version: 1,
  input,
  retry,
  timeout: { run: HASTY_MS },
  steps: (line) =>
    line
      .step('a', {
        check: (context) => checkFor(context, 'a'),
        work: async (context) => takeTime(context).then(() => context.input.n + 3),
        persist: (context) => publish(context, 'a', context.work),
      })
      .sleep('nap', ({ input: asked }) => napMs(asked))
      .step('b', {
        check: 'none',
        work: async (context) => takeTime(context).then(() => context.state.a * 2),
      }),
});

const patient = defineMachine({
  name: 'patient',
  version: 1,
  input,
  retry,
  timeout: { run: PATIENT_MS },
  steps: (line) =>
    line
      .step('a', {
        check: (context) => checkFor(context, 'a'),
        work: async (context) => takeTime(context).then(() => context.input.n + 4),
        persist: (context) => publish(context, 'a', context.work),
      })
      .sleep('nap', ({ input: asked }) => napMs(asked))
      .step('b', {
        check: (context) => checkFor(context, 'b'),
        work: async (context) => takeTime(context, 2).then(() => context.state.a * 2),
        persist: (context) => publish(context, 'b', context.work),
      }),
});

const restless = defineMachine({
  name: 'restless',
  version: 1,
  input,
  retry,
  timeout: { run: RESTLESS_MS },
  check: 'none',
  work: async (context): Promise<number> => {
    await takeTime(context);
    throw retryAfter(delayMs(context.input), 'it is never the time');
  },
});

export const LIMITED: readonly Machine[] = [hasty, patient, restless] as unknown as Machine[];
export const LIMITED_NAMES: readonly string[] = LIMITED.map(({ name }) => name);

/** On a host whose clock is set back the deadline of its own runs is as far away as that clock says. */
export function endsAnyway({ name }: { readonly name: string }): boolean {
  return name !== 'restless';
}

export function limitedPlan(machine: string): Plan | undefined {
  const found = LIMITED.find(({ name }) => name === machine);
  return found && planOf(found);
}

/** What a run of these has to have come to. One that sleeps beyond its deadline cannot complete. */
export function limitedEnd(machine: string, n: number): { outcomes: string[]; result?: number } {
  const isHopeless = machine === 'restless' || (machine === 'hasty' && napMs({ n }) > HASTY_MS);
  const outcomes = isHopeless ? ['timedOut'] : ['timedOut', 'completed', 'handedOff'];
  return { outcomes, result: (n + (machine === 'hasty' ? 3 : 4)) * 2 };
}

export function limitedSteps(machine: string): readonly string[] {
  if (machine === 'restless') return [];
  return machine === 'hasty' ? ['a'] : ['a', 'b'];
}
