/** The rule on the claim register, as pods saw it: their answers fit one order. */
import { claimRegister, registerCalls } from './claim-register.ts';
import { linearityOf } from './linearize.ts';
import type { Rule } from './rule.ts';

export const registerIsLinear: Rule = {
  name: 'the claim is one register',
  says: 'what pods were told of claims, ends and take-overs fits one order, up to the row at the end',
  proves: ['I7', 'I8', 'I9'],
  weight: 'zombieWrites',
  ofLife: ({ task, row }, { calls, changes, pods }) => {
    // One register for all generations: it is looked at once, with the last of them.
    if (!row || !calls || calls.length === 0) return { looked: 0, faults: [] };
    const diedAt = (pod: string) => pods.get(pod)?.deadAt;
    const ops = registerCalls(calls, changes, { row, diedAt });
    const linearity = linearityOf(ops, claimRegister);
    // One that is too long for a search was not looked at, and is told as such.
    if (linearity === 'undecided') return { looked: 0, faults: [], undecided: 1 };
    const fault = `${task}: what pods were told of its claim fits no order`;
    return { looked: 1, faults: linearity === 'linear' ? [] : [fault] };
  },
};
