/** The deploy: one machine as it was, one beside its next version, and every way to change one. */
import { defineMachine } from 'fleetq';
import * as z from 'zod';
import { Input, nap, phases, retry } from '../halting.mjs';

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(phases);
const next = (name, steps, more = {}) =>
  defineMachine({ name, version: 2, input: Input, retry, steps, ...more });

export const same = defineMachine({
  name: 'plan/same',
  version: 1,
  input: Input,
  retry,
  steps: (line) => line.step('a', a).step('b', b).step('c', c),
});
export const keep1 = defineMachine({
  name: 'plan/keep',
  version: 1,
  input: Input,
  retry,
  steps: (line) => line.step('a', a).sleep('nap', nap).step('b', b),
});
export const keep2 = next('plan/keep', (line) => line.step('b', b).step('a', a));

/** A step more at the end. */
export const grow = next('plan/grow', (line) =>
  line.step('a', a).sleep('nap', nap).step('b', b).step('c', c),
);
export const swap = next('plan/swap', (line) => line.step('a', a).step('c', c).step('b', b));
export const shrink = next('plan/shrink', (line) => line.step('a', a).step('c', c));

/** The schema takes less. */
export const strict = next('plan/strict', (line) => line.step('a', a).step('b', b).step('c', c), {
  input: Input.extend({ isStrict: z.literal(true) }),
});

export const carry = next(
  'plan/carry',
  (line) => line.step('a', a).step('x', phases('x')).step('d', d),
  {
    upgrade: {
      1: (old) => {
        if (old.input.isBad) throw new Error('nobody knows what to do with these');
        const { a } = old.state;
        if (a === undefined) return old.restart(old.input);
        const { input } = old;
        if (old.state.b === undefined) return old.resumeAt('x', { input, state: { a } });
        return old.resumeAt('d', { input, state: { a, x: old.state.b } });
      },
    },
  },
);

export const renamed = next('plan/renamed', (line) => line.step('a', a).sleep('nap', nap));
