/** What is in flight when the deploy comes. */
import { defineMachine } from 'fleetq';
import { Input, nap, phases, retry } from '../halting.mjs';

const abc = (name) =>
  defineMachine({
    name,
    version: 1,
    input: Input,
    retry,
    steps: (line) => line.step('a', phases('a')).step('b', phases('b')).step('c', phases('c')),
  });
const withNap = (name) =>
  defineMachine({
    name,
    version: 1,
    input: Input,
    retry,
    steps: (line) => line.step('a', phases('a')).sleep('nap', nap).step('b', phases('b')),
  });

export const same = abc('plan/same');
export const keep = withNap('plan/keep');
export const grow = withNap('plan/grow');
export const swap = abc('plan/swap');
export const shrink = abc('plan/shrink');
export const strict = abc('plan/strict');
export const carry = abc('plan/carry');
export const gone = withNap('plan/gone');
