/** A machine whose runs may go on for a while where the store does not answer. */
import { defineMachine, type Machine, type Plan, planOf } from '../../src/machine/index.ts';
import { checkFor, input, publish, retry, takeTime } from './shapes.ts';

/** Long enough for the store to go away in the midst of a run, and to be missed. */
function takeLong({ input: { n } }: { readonly input: { readonly n: number } }): Promise<void> {
  return takeTime({ input: { n, pace: 800 + (n % 5) * 400 } });
}

const lonely = defineMachine({
  name: 'lonely',
  version: 1,
  input,
  retry,
  autonomous: '4s',
  steps: (line) =>
    line
      .step('a', {
        check: (context) => checkFor(context, 'a'),
        work: async (context) => takeLong(context).then(() => context.input.n + 6),
        persist: (context) => publish(context, 'a', context.work),
      })
      .step('b', {
        check: (context) => checkFor(context, 'b'),
        work: async (context) => takeLong(context).then(() => context.state.a * 2),
        persist: (context) => publish(context, 'b', context.work),
      })
      .step('c', {
        check: 'none',
        work: async (context) => takeLong(context).then(() => context.state.b + 1),
      }),
});

export const LONELY: readonly Machine[] = [lonely] as unknown as Machine[];
export const LONELY_NAMES: readonly string[] = LONELY.map(({ name }) => name);

export function lonelyPlan(machine: string): Plan | undefined {
  const found = LONELY.find(({ name }) => name === machine);
  return found && planOf(found);
}

export function lonelyEnd(n: number): { outcomes: string[]; result?: number } {
  return { outcomes: ['completed', 'handedOff'], result: (n + 6) * 2 + 1 };
}

export function lonelySteps(): readonly string[] {
  return ['a', 'b'];
}
